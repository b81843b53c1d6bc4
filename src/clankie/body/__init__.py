"""The owner's machine: verifies, admits, runs the turn once, answers sealed."""
