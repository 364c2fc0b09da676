"""What is played again for a story, one file each: it asks what would have come otherwise.

May use: sightings, knowledge, rerun.
Siblings: no file here imports another.
"""
