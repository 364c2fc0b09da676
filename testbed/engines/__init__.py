"""The Engines, one file each."""
