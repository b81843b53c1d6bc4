"""What edges ask: permits, routes, and that messages be charged. Bearer: the edge's own token."""
