"""What `testbed search` does, from the options on the command line to the exit code.

May use: output, show, jobs, playing, progress, raised, races, mapped, explained, attaching.
In order: folder, pages, junit, live, report, search.
"""
