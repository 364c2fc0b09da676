"""What was recorded of the real code, and how ours is compared with it."""
