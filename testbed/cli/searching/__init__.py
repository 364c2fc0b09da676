"""What `testbed search` does, from the options on the command line to the exit code.

May use: show, jobs, playing, progress, races, attaching.
In order: folder, junit, live, report, search.
"""
