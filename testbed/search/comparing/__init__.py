"""Comparing: one scenario under several settings, and what each of them costs and does.

Every alternative is played with the same seeds, so that arrivals and other picks are the same in
each; a measure reads the history of a Run and says what it came to there.

May use: sharing.
In order: sample, run_history, made_room, taken_room, machine_life, measure, measures,
  measure_kinds, resampling, alternatives, comparison.
"""
