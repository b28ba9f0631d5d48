"""Kato, Takahashi, Cao & Yoshikawa: a p-view, a differentially private stand-in (DP-Mondrian). Tables 1, 3, 4, 5, Figs 3 to 6."""
