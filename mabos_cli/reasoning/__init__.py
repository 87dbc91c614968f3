"""The 35 methods of reasoning, pure as core. A module per method: the shape of its input, questions for a worksheet, and a solver."""
