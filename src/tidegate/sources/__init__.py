"""Where tuples come from: one adapter per file, each giving a streaming frame with its declared attributes."""
