"""The wire contract: bytes, time and state in; bytes and decisions out. No I/O and no clock of its own."""
