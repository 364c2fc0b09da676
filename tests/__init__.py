"""Tests: a folder for each room of the house, and `shared/`, which has what several of them use."""
