"""Several gateways as one: a host may dial any of them, and a request may arrive at any other."""
