"""Who does the heavy work: all pairs of tuples, on the processor or on an accelerator."""
