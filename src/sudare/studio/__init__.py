"""The studio: the whole walk in a browser, from a file to a certificate. It calls the public verbs, and has no method of its own."""
