"""What the commands show of their results; on standard output with --json or where it is the result itself."""
