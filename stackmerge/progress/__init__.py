"""How far a rebuild is: what it tells while it is at work, and where others can read that."""
