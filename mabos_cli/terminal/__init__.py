"""Shows results, tables and progress to people; plain when piped."""
