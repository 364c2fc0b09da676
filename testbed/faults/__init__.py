"""The kinds of Fault, one file each."""
