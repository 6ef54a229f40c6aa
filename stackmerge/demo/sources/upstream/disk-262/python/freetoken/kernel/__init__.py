"""What talks to the device and to the disk."""
