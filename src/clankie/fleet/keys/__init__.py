"""The fleet's signing keys: made, published, signing, retired."""
