"""What each path below /api/v10 does, one file a subject."""
