"""The one store an edge has: tables, schema, sealing at rest, opening, the lease that its shards are held by."""
