"""Facts of pictures: ``reader`` picks the walker of a format, decodes once and gathers; a module a format."""
