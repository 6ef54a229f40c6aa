"""What each command is called, takes and prints; the work is done elsewhere."""
