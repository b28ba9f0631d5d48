"""Miura & Hasegawa: the optimal PRAM for a histogram. Table 1, Figs 3 to 7, and which PRAM to use."""
