"""What `clankie doctor` looks at: every part of a body that can be wrong before it runs, or while it does."""
