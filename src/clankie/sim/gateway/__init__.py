"""The simulated Discord's gateway: sessions over WebSockets. It must not know REST or the page."""
