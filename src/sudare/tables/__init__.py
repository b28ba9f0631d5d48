"""Tables: reading sources, schemas, hierarchies, codes and counts."""
