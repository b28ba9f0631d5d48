"""The ledger: every release of a source, what releases tell together, and what budgets leave."""
