"""The levels of `testbed learn`: Worlds with a program that a student mends.

Each file has one scenario and its `LEVEL`. `wrong/` has, by the same name, the answers that a check
of the level must refuse.

May use: nothing beside it.
In order: siblings, wrong.
"""
