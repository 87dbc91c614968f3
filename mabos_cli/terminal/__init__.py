"""What people see: results, tables, progress. Plain when piped."""
