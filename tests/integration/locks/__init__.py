"""Lock handlers on real servers, with real processes."""
