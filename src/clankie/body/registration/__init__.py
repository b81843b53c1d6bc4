"""A managed body's side of its fleet (wire.md 10): keys registered, credential renewed, fleet keys fetched."""
