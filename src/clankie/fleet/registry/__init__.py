"""What the fleet knows: accounts, machines and their routes, edges, links, blocks, limits."""
