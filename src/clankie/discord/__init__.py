"""What edge and bridge share: Discord's payloads turned into plain facts and plain decisions."""
