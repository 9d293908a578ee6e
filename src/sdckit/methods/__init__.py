"""How a function becomes a method: its specification, its options, its call, its effects."""
