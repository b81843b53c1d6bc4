"""What bodies ask (wire.md 10): their keys registered, a credential, the fleet's keys. Each call is signed."""
