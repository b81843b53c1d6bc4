"""Clankie: one Discord bot whose answers come from the owner's own machine."""
