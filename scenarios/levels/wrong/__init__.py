"""Wrong answers that look right: a check of each level must refuse every one of its own.

May use: scenarios.levels.
Siblings: no file here imports another.
"""
