"""Discord's REST v10, its CDN and its OAuth2, over the simulated world."""
