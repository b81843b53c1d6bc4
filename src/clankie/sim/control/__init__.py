"""What the page and tests do to the simulated Discord: JSON and a stream of events under `/sim/api/v1`."""
