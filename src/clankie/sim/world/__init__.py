"""Who and what there is in the simulated Discord, and what each may do. It must not know sockets or HTTP."""
