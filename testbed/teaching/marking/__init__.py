"""Marking: the answers of a whole class, each played in a process of its own and marked.

An answer is a stranger's code. It may loop, eat memory, delete files or lie about its mark, and
must cost nothing but its own mark. What guards the others, from the outside in:

1. A process for each answer, in an empty folder, with no environment, killed with all that it has
   started (`booth`). It gets the text of the answer and no path to another one.
2. In it, a process for each part of the check (`part`), so that nothing an answer keeps outlives a
   trial; and each life of a program is played once more where no other one ever was, and must do
   the same.
3. Limits of the operating system: processor time, memory, files, processes (`limits`).
4. On Linux, the kernel refuses whatever a check does not need (`kernel`).
5. On each system, Python tells what the answer tries, and refuses it (`guard`).
6. The result of a part is signed with a key that the answer never sees (`seal`), and the testbed is
   compared with what it was before the answer ran (`intact`).

What this does not stop: the answer runs in the process that judges it. Someone who knows CPython
well can write to its memory, and so give themselves a mark; where the kernel refuses nothing (4),
they can do more. If you do not trust the class that far, mark in a container or a virtual machine.

May use: level, looks, ladder, answer, checked, alone, checking.
In order: mark, limits, submissions, kernel, guard, intact, seal, part, sitting, booth, marking,
  sheet.
"""
