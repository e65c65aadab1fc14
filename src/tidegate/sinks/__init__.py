"""Where results go: one adapter per file, each fed by a thread of its own, which remembers how far it has come."""
