"""The 35 methods of reasoning, pure as core: a solver per method, and what each asks for in worksheets/."""
