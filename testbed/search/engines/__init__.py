"""The Engines, one file each: where the Runs of a search are played.

May use: planned_run, player.
In order: worker; then siblings.
"""
