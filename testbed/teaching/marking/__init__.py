"""Marking: the answers of a whole class, each played in a process of its own and marked.

An answer is a stranger's code. It may loop, eat memory, delete files or lie about its mark, and
must cost nothing but its own mark. What guards the others, from the outside in:

1. A process for each answer, in an empty folder, with no environment, killed with all that it has
   started (`booth`). It gets the text of the answer and no path to another one.
2. Limits of the operating system: processor time, memory, files, processes (`limits`).
3. On Linux, the kernel refuses whatever a check does not need (`kernel`).
4. On each system, Python tells what the answer tries, and refuses it (`guard`).
5. The result is signed with a key that the answer never sees (`seal`), and the testbed is compared
   with what it was before the answer ran (`intact`).

What this does not stop: the answer runs in the process that judges it. Someone who knows CPython
well can write to its memory, and so give themselves a mark; where the kernel refuses nothing (3),
they can do more. If you do not trust the class that far, mark in a container or a virtual machine.

May use: level, ladder, checking.
In order: mark, limits, submissions, kernel, guard, intact, seal, sitting, booth, marking, sheet.
"""
