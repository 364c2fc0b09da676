"""What no file of the house may hold, whatever it imports: the half that needs no map.

Each check takes one parsed file and yields its Complaints.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cached_property

import attrs

LINES_MAX = 400
FUNCTION_LINES_MAX = 50
FILES_NEVER = {"utils", "util", "common", "helper", "helpers", "manager", "managers", "misc"}
WORDS_NEVER = {"helper", "helpers", "manager", "managers"}
ANOTHERS = re.compile("oracle|chaos|campaign", re.IGNORECASE)
"""Words of others for what has a word here; they stand nowhere, not even within a longer one."""


@attrs.frozen
class Complaint:
    """One breach of one rule."""

    path: str
    line: int
    rule: str
    what: str
    """The module, name or number it is about; an Exempt names it."""
    text: str
    """What is wrong and what to do."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


@attrs.frozen
class Source:
    """One parsed file; its path is told from the root of the tree."""

    path: str
    text: str
    tree: ast.Module

    @property
    def package(self) -> str:
        """The top-level package it belongs to."""
        return self.path.partition("/")[0]

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All of the tree; each check looks at them, and to walk it is what takes long."""
        return tuple(ast.walk(self.tree))

    def complain(self, line: int, rule: str, what: str, text: str) -> Complaint:
        """A Complaint about this file."""
        return Complaint(self.path, line, rule, what, text)


def complaints(source: Source, bases: Bases) -> Iterator[Complaint]:
    """All there is to say of one file by itself."""
    yield from check_outside(source)
    yield from check_sizes(source)
    yield from check_docstrings(source, bases)
    yield from check_words(source)


def check_outside(source: Source) -> Iterator[Complaint]:
    """Nothing outside a World decides: no chance, no address, no hash, no order of a set."""
    excused = set(_hashes_that_decide_nothing(source))
    for node in source.nodes:
        what, advice = _decides(node)
        if what and node not in excused:
            line = getattr(node, "lineno", 1)
            yield source.complain(line, "outside", what, f"{what}: {advice}")


def _hashes_that_decide_nothing(source: Source) -> Iterator[ast.AST]:
    """The names within a `__hash__`, and of a `hash(x)` that only asks whether x has one."""
    for node in source.nodes:
        match node:
            case ast.FunctionDef(name="__hash__"):
                yield from ast.walk(node)
            case ast.Expr(value=ast.Call(func=ast.Name(id="hash") as name)):
                yield name


def _decides(node: ast.AST) -> tuple[str, str]:
    """What in this node lets something outside the World decide, and what to do; or empty."""
    match node:
        case ast.Name(id="id", ctx=ast.Load()):
            return "id", "an address differs from run to run; count instead"
        case ast.Name(id="hash", ctx=ast.Load()):
            return "hash", "it differs from process to process; compare the value"
        case ast.Attribute(value=ast.Name(id="random"), attr=name) if name != "Random":
            return f"random.{name}", "chance is a `pick`, or a Random with a seed"
        case ast.ImportFrom(module="random", names=names) if {n.name for n in names} != {"Random"}:
            return "random.*", "chance is a `pick`, or a Random with a seed"
        case ast.Attribute(value=ast.Name(id="os"), attr="urandom" | "getpid" as name):
            return f"os.{name}", "it differs from process to process"
        case ast.Call(
            func=ast.Attribute(attr="Random") | ast.Name(id="Random"), args=[], keywords=[]
        ):
            return "Random()", "it takes its seed from the machine; give it one"
        # A generator is left out: most are for any(), all() and sum(), which need no order.
        case (
            ast.Call(func=ast.Name(id="enumerate" | "iter" | "list" | "tuple"), args=[over, *_])
            | ast.For(iter=over)
            | ast.ListComp(generators=[ast.comprehension(iter=over), *_])
            | ast.DictComp(generators=[ast.comprehension(iter=over), *_])
        ) if _is_set(over):
            return "set", "its order is nobody's; sort it first"
        case _:
            return "", ""


def _is_set(node: ast.expr) -> bool:
    match node:
        case ast.Set() | ast.SetComp() | ast.Call(func=ast.Name(id="set" | "frozenset")):
            return True
        case _:
            return False


def check_sizes(source: Source) -> Iterator[Complaint]:
    """A file has 400 lines at most, a function 50."""
    lines = len(source.text.splitlines())
    if lines > LINES_MAX:
        text = f"{lines} lines, {LINES_MAX} at most; which two ideas does it hold?"
        yield source.complain(lines, "long", "file", text)
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            if size > FUNCTION_LINES_MAX:
                text = f"{node.name}: {size} lines, {FUNCTION_LINES_MAX} at most; name its parts"
                yield source.complain(node.lineno, "long", node.name, text)


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Bases:
    """The classes of a whole tree, by name: what a method may inherit its docstring from."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self.classes = {
            node.name: node
            for source in sources
            for node in source.nodes
            if isinstance(node, ast.ClassDef)
        }

    def say(self, owner: ast.ClassDef, method: str) -> bool:
        """Whether a class that `owner` is made from has that method, with a docstring."""
        for base in owner.bases:
            name = ast.unparse(base).partition("[")[0].rpartition(".")[2]
            found = self.classes.get(name)
            if found is None or found is owner:
                continue
            own = [n for n in found.body if isinstance(n, Definition) and n.name == method]
            if any(map(ast.get_docstring, own)) or self.say(found, method):
                return True
        return False


def check_docstrings(source: Source, bases: Bases) -> Iterator[Complaint]:
    """Every module and public name says what it is; a method may leave that to its base."""
    if ast.get_docstring(source.tree) is None:
        text = "the module has no docstring; say its one idea in a sentence"
        yield source.complain(1, "docstring", "module", text)
    for node, owner in _public(source.tree):
        inherits = isinstance(owner, ast.ClassDef) and bases.say(owner, node.name)
        if ast.get_docstring(node) is None and not inherits:
            text = f"{node.name} has no docstring; say what it is or does, in a sentence"
            yield source.complain(node.lineno, "docstring", node.name, text)


Scope = ast.Module | ast.ClassDef


def _public(scope: Scope) -> Iterator[tuple[Definition, Scope]]:
    """Public functions, classes and their public methods; an overload speaks through its whole."""
    for node in scope.body:
        if not isinstance(node, Definition) or node.name.startswith("_"):
            continue
        marks = {ast.unparse(mark).rpartition(".")[2] for mark in node.decorator_list}
        if not marks & {"overload", "setter", "deleter"}:
            yield node, scope
        if isinstance(node, ast.ClassDef):
            yield from _public(node)


def check_words(source: Source) -> Iterator[Complaint]:
    """No file, class or function is called by a word that says nothing; none says another's."""
    for line, word in others_words(source.text):
        text = f"{word}: what it means has a word of ours; see the words in docs/house.md"
        yield source.complain(line, "word", word, text)
    advice = "that word says nothing; name what it is or does"
    for part in source.path.removesuffix(".py").split("/"):
        if part in FILES_NEVER:
            yield source.complain(1, "word", part, f"{part}: {advice}")
    for node in source.nodes:
        if isinstance(node, Definition):
            for word in sorted(WORDS_NEVER.intersection(_words(node.name))):
                yield source.complain(node.lineno, "word", word, f"{node.name}: {advice}")


def others_words(text: str) -> Iterator[tuple[int, str]]:
    """Where a text says a word of others, and which."""
    for number, line in enumerate(text.splitlines(), start=1):
        for found in ANOTHERS.finditer(line):
            yield number, found[0].lower()


def _words(name: str) -> list[str]:
    """`KeyManager` and `key_manager` are both key, manager."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_")


RIDDLES = re.compile(
    r"\b(whom|whose|whoever|whichever|nobody|nought|so many|so much|in vain|seen to|sees to"
    r"|thereof|wherein|anew)\b",
    re.IGNORECASE,
)
"""Words at which a reader stumbles. They are a symptom: what is wrong is the sentence around."""
RIDDLES_MAX = 3
"""In a thousand words of docstrings; the projects we look up to have one or two."""


def riddles(trees: Iterable[ast.Module]) -> tuple[int, int]:
    """How many of these words the docstrings of modules, classes and functions have, and of how
    many words in all."""
    found = words = 0
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, Definition | ast.Module):
                docstring = ast.get_docstring(node) or ""
                found += len(RIDDLES.findall(docstring))
                words += len(docstring.split())
    return found, words
