"""Where flow is decided: who enters, in which order, and who may see what leaves."""
