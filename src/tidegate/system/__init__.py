"""The front door: a gate over streams, sessions at it, queries and what they answer."""
