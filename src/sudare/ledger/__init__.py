"""The ledger: every release of a source, what releases reveal together, and what budgets leave."""
