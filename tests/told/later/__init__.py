"""Worlds that were written when the cause of a story was done: public incidents, exercises of
students, and the actors that come along."""
