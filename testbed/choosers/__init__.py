"""The Choosers, one file each."""
