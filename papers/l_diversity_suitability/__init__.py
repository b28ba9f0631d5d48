"""Muramoto, Kamidoi & Wakabayashi: is a table fit for l-diversification? Tables 3 and 4, and Fig. 3."""
