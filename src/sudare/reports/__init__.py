"""Reports: pages and charts, for the holder and for analysts."""
