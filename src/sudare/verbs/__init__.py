"""The verbs that make something: each a short composition of learn, apply, verify, certify, report and record."""
