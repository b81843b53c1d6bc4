"""The durable outbox: each accepted event, frozen, until it is answered and the answer is posted, at most once."""
