"""Search: many Runs, played in rounds, and what was found in them.

May use: errors, version, code, objects, words, policy, child, turns, fault, invariant,
  chooser, choosers, world, attended, races.
In order: sharing, planned_run, bounds, player, engine, engines, coverage, finding, sources, terms,
  ledger, portfolio, effort, crossing, attended_player, search, usual, sweep, comparing.
"""
