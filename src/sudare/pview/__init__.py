"""The differentially private view of a table (p-view): any range count, SQL and synthetic rows from one budget."""
