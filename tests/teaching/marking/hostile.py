"""Hostile: answers to level 1 that do what no answer may do, each with what its row must say."""

from __future__ import annotations

import attrs

HEAD = '''"""An answer that means no good."""

import operator
import re

from scenarios.levels.lost_count import Clerk
from testbed import Client, Conflict, Unavailable

CANARY, OTHER = "{canary}", "{other}"


class MyClerk(Clerk):
    async def run(self, client: Client) -> None:
        sys = operator.attrgetter("enum.sys")(re)
        modules = sys.modules
        os, builtins = modules["os"], modules["builtins"]
'''
CAREFUL = """
        for _ in range(self.deliveries):
            while True:
                try:
                    note = await client.get(sys.modules["testbed.objects"].Note, self.stock)
                    more = str(int(note.data["count"]) + 1)
                    await client.update(note.saying(count=more, last=self.name))
                    break
                except (Conflict, Unavailable):
                    continue
"""


@attrs.frozen
class Hostile:
    """One such answer."""

    body: str
    """What it does before it counts as it should."""
    mark: str
    reason: str
    """What its row says; it may say more behind."""

    def text(self, canary: str = "/canary", other: str = "/other") -> str:
        """The file. The canary must outlive it; the other is another student's answer."""
        lines = "".join(f"        {line}\n" for line in self.body.strip("\n").splitlines())
        return HEAD.format(canary=canary, other=other) + lines + CAREFUL


def tries(body: str, words: str) -> Hostile:
    """One that tries something, takes care not to be stopped by a refusal, and is found out."""
    calm = f"try:\n    {body}\nexcept builtins.BaseException:\n    pass"
    return Hostile(calm, "refused", f"it tried to {words}")


HOSTILE = {
    "removes": tries("os.remove(CANARY)", "remove a file"),
    "renames": tries("os.rename(CANARY, CANARY + 'x')", "rename a file"),
    "removes_all": tries("modules['shutil'].rmtree(CANARY)", "copy or remove files"),
    "chmods": tries("os.chmod(CANARY, 0)", "change who may use a file"),
    "writes": tries("builtins.open(CANARY, 'w')", "write a file"),
    "appends": tries("os.open(CANARY, os.O_RDWR | os.O_APPEND)", "write a file"),
    "writes_here": tries("builtins.open('mine.txt', 'w')", "write a file"),
    "reads_another": tries("builtins.open(OTHER).read()", "read a file of another"),
    "lists_others": tries("os.listdir(OTHER.rpartition('/')[0])", "list a folder of another"),
    "forks": tries("os.fork()", "start a process"),
    "forks_on": tries("while os.fork() >= 0: pass", "start a process"),
    "runs_a_program": tries("modules['subprocess'].run(['true'])", "start a process"),
    "runs_a_shell": tries("os.system('true')", "start a process"),
    "execs": tries("os.execv('/bin/true', ['true'])", "start a process"),
    "opens_a_socket": tries("modules['socket'].socket()", "open a socket"),
    "kills_its_parent": tries("os.kill(os.getppid(), 9)", "kill a process"),
    "kills_a_group": tries("os.killpg(0, 9)", "kill a process"),
    "runs_text": tries("builtins.eval('1')", "run code made from text"),
    "looks_at_frames": tries("modules['inspect'].currentframe()", "look into the testbed"),
    "looks_at_garbage": tries("modules['gc'].get_objects()", "look into the testbed"),
    "unguards": tries("sys.addaudithook(len)", "change the guard"),
    "lifts_limits": tries("builtins.__import__('resource').setrlimit(0, (9, 9))".replace(
        "builtins.__import__", "modules['importlib'].import_module"), "change its limits"),
    "asks_for_id": tries("builtins.id(self)", "use id(), which differs"),
    "starts_a_thread": tries("modules['threading'].Thread(target=len).start()", "start a thread"),
    "patches": Hostile(
        "modules['testbed.teaching.checked'].CheckedAnswer.passed = True",
        "refused", "it tried to change testbed.teaching.checked.passed",
    ),
    "leaves": Hostile("builtins.getattr(os, '_exit')(0)", "failed", "it ended its process"),
    "forges": Hostile(
        """
for fd in range(3, 64):
    try:
        os.write(fd, b'{"mark":"passed","runs":1}')
    except OSError:
        pass
builtins.getattr(os, '_exit')(0)
""",
        "failed", "it wrote a result of its own",
    ),
    "sleeps": tries("modules['time'].sleep(1000)", "sleep"),
    "waits_for_a_signal": tries("modules['signal'].pause()", "sleep"),
    "loops": Hostile("while True: pass", "refused", "a turn of it does not end"),
    "loops_on": Hostile(
        "while True:\n  try:\n    while True: pass\n  except builtins.BaseException: continue",
        "refused", "a turn of it does not end",
    ),
    "loops_in_c": Hostile(
        "sum(modules['itertools'].count())", "failed", "it used more than 1 s of processor time",
    ),
    "eats_memory": Hostile(
        "x = []\nwhile True: x.append(' ' * 10_000_000)", "failed", "it used more than 128 MB",
    ),
    "prints": Hostile(
        "while True: sys.stdout.write('x' * 100_000)", "failed", "it printed more than 1,048,576",
    ),
    "prints_below": Hostile(
        "while True: os.write(1, b'x' * 100_000)", "failed", "it printed more than 1,048,576",
    ),
    "imports_os": Hostile("import os", "failed", "level_1.py, line"),
    "writes_no_python": Hostile("def", "failed", "level_1.py, line"),
}  # fmt: skip
"""By name, each answer."""
