"""Us and our peers on the same work in one run. Times are of this machine; ratios are what to look at."""
