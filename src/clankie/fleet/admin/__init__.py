"""The fleet's own loopback port: its administrators, and its measurements."""
