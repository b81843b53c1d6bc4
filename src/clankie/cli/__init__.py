"""The command line: one module a role, teaching as it goes."""
