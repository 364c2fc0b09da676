"""Teaching: levels, each a World with a race in it and one class of it for a student to mend.

A level is a scenario in `scenarios/levels/`, with one `LearnLevel` beside it. A student's *answer*
is a file with one class that runs in place of the careless one; a check plays the trials of the
level with it. Everything else that plays scenarios plays levels, too.

May use: errors, words, code, objects, switches, policy, child, store, turns, client, fault,
  invariant, chooser, choosers, world, races, search, story, testing.
In order: seat, patience, looks, level, ladder, lending, grammar, answer, checked, noting, alone,
  checking, scoring, record, beats, marking.
"""
