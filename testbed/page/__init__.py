"""The page: one Run as one HTML file that opens from disk.

May use: errors, words, objects, store, turns, world, races, story, maps.
In order: subject, truth_log, belief_log, marking, moments, arrows, run_data,
  what_if, facts, data, page.
"""
