"""Text to plan and back: grammar, syntax tree, binder, printer."""
