"""What was said in channels that opted in, until the wake that follows takes it along."""
