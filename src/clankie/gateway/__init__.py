"""The public gateway: carries sealed envelopes to hosts that dialled in, and can neither read nor re-address them."""
