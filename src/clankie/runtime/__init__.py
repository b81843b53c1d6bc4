"""What every role stands on: configuration, secrets, the database, HTTP, life cycle, telemetry."""
