"""The p-view, a differentially private stand-in for a table: any range count, SQL and synthetic rows from one budget."""
