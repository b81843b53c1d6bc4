"""What comes in from Discord: whether it is let in, where it goes, whether it wakes, and that it is accepted once."""
