"""What is claimed of every World, whatever it plays; one file per part of the instrument."""
