"""An intruder who knows keys and numbers of a person gives every released record the chance to be that person's."""
