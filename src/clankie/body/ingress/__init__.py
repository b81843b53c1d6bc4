"""The sealed ingress: verify, admit, start the turn once, answer sealed."""
