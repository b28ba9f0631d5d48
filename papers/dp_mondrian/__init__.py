"""Kato, Takahashi, Cao & Yoshikawa: a differentially private materialised view (DP-Mondrian). Tables 1, 3, 4, 5, Figs 3 to 6."""
