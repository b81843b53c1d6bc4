"""Signing in with the simulated Discord, as OAuth2 has it."""
