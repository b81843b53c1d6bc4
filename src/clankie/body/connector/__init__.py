"""The body's tunnel to the gateway: dialled outwards, so that the machine needs no open port."""
