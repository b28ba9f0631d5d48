"""Takenouchi, Furukawa & Miyakawa: anonymization for several releases. Figs 3 to 5, its example, and what lies beyond."""
