"""What an edge, or any program, uses to deliver: permit, seal, post, poll."""
