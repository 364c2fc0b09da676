"""Exercises: small Worlds as students write them, and Worlds of the actors that come along, with a
switch or a plain field for their guard."""
