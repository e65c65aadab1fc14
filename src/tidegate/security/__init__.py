"""Who may see what: levels, lattices, subjects and the two flow rules. Standard library only."""
