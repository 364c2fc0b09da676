"""Attended Runs: real programs in place of actors, over HTTP.

May use: errors, code, child, client, objects, words, store, turns, chooser, world.
In order: http, wall_times, keeper, threads, process, overheard, troupe, quiet, program, tape,
  calls, steady, door, arrivals, doorman, called, casting, frequency, visits.
"""
