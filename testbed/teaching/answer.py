"""Answer: the file of a student, read, checked and loaded, and the one class of it that counts."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from testbed.client.actor import Actor
from testbed.code.files import read_bytes
from testbed.code.takes import wrong_count
from testbed.errors import ScenarioError
from testbed.policy import forget, let_go, load, own, use
from testbed.teaching.grammar import complaint_about
from testbed.teaching.lending import run_file
from testbed.teaching.level import LearnLevel

BYTES_MAX = 100_000


@contextmanager
def answering(level: LearnLevel, given: type[Actor] | str | Path) -> Iterator[type[Actor]]:
    """The class that answers the level, which switches may name during the body. After it they may
    not: another answer of the same name can be checked in this process."""
    if isinstance(given, type):
        _check_class(level, given, given.__module__)
        was_there = own().get(given.__name__) is given
        use(given)
        try:
            yield given
        finally:
            let_go(*([] if was_there else [given]))
        return
    file = Path(given)
    _check_text(level, file)
    if (before := own().get(level.answers_class)) is not None:
        # An earlier answer with a class of that name, as `--policy` has loaded it.
        let_go(*(each for each in own().values() if each.__module__ == before.__module__))
    forget(file.stem)
    of_its_name = sys.modules.get(file.stem)
    # If the file is edited within one second, Python would still run the compiled code of before.
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        _load(level, file)
        yield _class_of(level, file)
    finally:
        sys.dont_write_bytecode = writes
        # A file that was refused for its name, such as json.py, is not the module of that name.
        if sys.modules.get(file.stem) is not of_its_name:
            sys.modules.pop(file.stem, None)


def _load(level: LearnLevel, file: Path) -> None:
    """Run the file, with what is lent to it alone. What is wrong with it is told of the file: a
    check has no `--policy`."""
    try:
        load(file, run_file(level.build.__module__))
    except ScenarioError as error:
        raise ScenarioError(str(error).removeprefix("--policy ")) from error


def _check_text(level: LearnLevel, file: Path) -> None:
    """ScenarioError unless that is a file of which each line may stand in an answer."""
    what = f"an answer to level {level.number}"
    again = f"testbed learn {level.number}"
    if file.suffix != ".py" or not file.is_file():
        raise ScenarioError(
            f"{file}: expected a Python file with {what}, and there is none.\n"
            f"Next: `{again}` writes one to start from."
        )
    if file.stat().st_size > BYTES_MAX:
        raise ScenarioError(
            f"{file}: it has more than {BYTES_MAX:,} bytes; expected some thirty lines.\n"
            f"Next: `{again}` writes a file to start from."
        )
    text = read_bytes(file)
    if not text.strip():
        raise ScenarioError(
            f"{file}: it is empty; expected a class derived from {level.base.__name__}.\n"
            f"Next: `{again} --again` writes the file to start from."
        )
    try:
        tree = ast.parse(text, str(file))
    except SyntaxError as error:
        where = f", line {error.lineno}" if error.lineno else ""
        code = f"\n    {error.text.strip()}" if error.text else ""
        raise ScenarioError(
            f"{file}{where}: Python cannot read it: {error.msg}.{code}\n"
            "Next: mend that line, and check again."
        ) from error
    except ValueError as error:
        raise ScenarioError(
            f"{file}: Python cannot read it: {error}.\nNext: save it as plain UTF-8 text."
        ) from error
    if not any(isinstance(node, ast.ClassDef) for node in tree.body):
        raise ScenarioError(
            f"{file}: no class stands in it; expected one derived from {level.base.__name__}.\n"
            f"Next: write `class {level.answers_class}({level.base.__name__}):`, with `async def "
            "run` in it."
        )
    if (found := complaint_about(tree, level.build.__module__)) is not None:
        line, wrong, instead = found
        raise ScenarioError(f"{file}, line {line}: {wrong}.\nNext: {instead}.")


def _class_of(level: LearnLevel, file: Path) -> type[Actor]:
    """The one class in that file that is derived from the base of the level."""
    base = level.base.__name__
    there = [each for each in own().values() if each.__module__ == file.stem]
    found = [each for each in there if issubclass(each, level.base)]
    if not found:
        names = ", ".join(each.__name__ for each in there)
        raise ScenarioError(
            f"{file}: no class there is derived from {base}, only {names}.\n"
            f"Next: write `class {level.answers_class}({base}):`, with `async def run` in it."
        )
    if len(found) > 1:
        names = " and ".join(each.__name__ for each in found)
        raise ScenarioError(
            f"{file}: {names} are both derived from {base}; expected one class.\n"
            "Next: leave the one that is meant."
        )
    _check_class(level, found[0], str(file))
    return found[0]


def _check_class(level: LearnLevel, answer: type[Actor], where: str) -> None:
    """ScenarioError unless that class can take the seat of the level."""
    base, name = level.base, answer.__name__
    wrong = ""
    if not issubclass(answer, base):
        wrong = f"it is not derived from {base.__name__}"
    elif answer.run is base.run:
        wrong = "it has no `run`"
    elif not callable(answer.run):
        wrong = "its `run` is no function"
    else:
        wrong = wrong_count(answer.run, 2)
        wrong = f"its `run` cannot be called with a Client: {wrong}" if wrong else ""
    if not wrong and not inspect.iscoroutinefunction(answer.run):
        wrong = "its `run` is no `async def`"
    if not wrong:
        try:
            answer(name=name)
        except TypeError as error:
            wrong = f"it cannot be made: {error}"
    if wrong:
        raise ScenarioError(
            f"{where}: {name}: {wrong}; expected a class derived from {base.__name__} that says "
            "what the program does.\n"
            "Next: write `async def run(self, client: Client) -> None:` in it."
        )
