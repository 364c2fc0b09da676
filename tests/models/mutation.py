"""Small edits of a program's text, each a mistake that a tired person makes.

A comparison is off by one or the wrong way round, a number by one, `and` stands for `or`, a `not`
is missing, a statement or a return value is left out, a default is flipped, `break` stands for
`continue`. What only people read is left as it is: docstrings, annotations, what is raised or
asserted, f-strings, `__repr__`.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator

import attrs

SWAPS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
SAID_MAX = 60
FOR_PEOPLE = {"__repr__", "__str__"}
Function = ast.FunctionDef | ast.AsyncFunctionDef
UNTOUCHED = ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.MatchValue


@attrs.frozen
class Edit:
    """One mistake, and where in the text it is made."""

    where: str
    """The function or class that it changes, with what that stands in."""
    before: str
    after: str
    line: int
    begin: int
    """The place of the first byte that is replaced, and of the first that is not any more."""
    end: int
    text: str
    """What stands there instead."""
    nth: int = 1
    """Which it is of those in the same place that read the same."""

    @property
    def name(self) -> str:
        """What it is known by, also after other lines of the file have changed."""
        counted = f" #{self.nth}" if self.nth > 1 else ""
        return f"{self.where}: {self.before} → {self.after}{counted}"

    def made_in(self, source: str) -> str:
        """The whole text with the mistake in it."""
        raw = source.encode()
        return (raw[: self.begin] + self.text.encode() + raw[self.end :]).decode()


def edits_of(source: str) -> tuple[Edit, ...]:
    """Every edit that there is of this program, in the order of its text."""
    seen: Counter[str] = Counter()
    found = []
    for edit in sorted(_Finder(source).found(), key=lambda edit: (edit.begin, -edit.end)):
        seen[edit.name] += 1
        found.append(attrs.evolve(edit, nth=seen[edit.name]))
    return tuple(found)


def drawn(names: Iterable[str], seed: int) -> list[str]:
    """All of them in an order that the seed decides.

    A name comes where it comes whatever other names there are, so that nearly the same mutants are
    drawn of a file before and after a line of it has changed.
    """
    return sorted(names, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())


class _Finder(ast.NodeVisitor):
    """Walks the tree and notes what may be edited."""

    def __init__(self, source: str) -> None:
        self._lines = [len(line) for line in source.encode().splitlines(keepends=True)]
        self._tree = ast.parse(source)
        self._scope: list[str] = []
        self._function: Function | None = None
        self._edits: list[Edit] = []

    def found(self) -> Iterator[Edit]:
        self.visit(self._tree)
        yield from self._edits

    # -- places --------------------------------------------------------------------------------

    def _place(self, line: int, column: int) -> int:
        return sum(self._lines[: line - 1]) + column

    def _note(self, node: ast.expr | ast.stmt, after: str, text: str = "") -> None:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        self._edits.append(
            Edit(
                where=".".join(self._scope) or "module",
                before=_said(ast.unparse(node)),
                after=_said(after),
                line=node.lineno,
                begin=self._place(node.lineno, node.col_offset),
                end=self._place(node.end_lineno, node.end_col_offset),
                text=text or f"({after})",
            )
        )

    def _replace(self, node: ast.expr, other: ast.expr) -> None:
        self._note(node, ast.unparse(other))

    # -- what is passed over -------------------------------------------------------------------

    def visit(self, node: ast.AST) -> None:
        if not isinstance(node, UNTOUCHED):
            super().visit(node)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """A field of a class that is data has its default here."""
        if node.value is not None:
            self._flip(node.value)
            self.visit(node.value)

    # -- scopes --------------------------------------------------------------------------------

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._scope.append(node.name)
        self._visit_all(node.body)
        self._scope.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._enter(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._enter(node)

    def _enter(self, node: Function) -> None:
        if node.name in FOR_PEOPLE:
            return
        outer, self._function = self._function, node
        self._scope.append(node.name)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self._flip(default)
                self.visit(default)
        self._visit_all(node.body)
        self._scope.pop()
        self._function = outer

    def _visit_all(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.visit(statement)

    def _flip(self, default: ast.expr) -> None:
        if isinstance(default, ast.Constant) and isinstance(default.value, bool):
            self._replace(default, ast.Constant(not default.value))

    # -- statements ----------------------------------------------------------------------------

    def visit_Expr(self, node: ast.Expr) -> None:
        """A docstring stays; so does a bare yield, without which a handler is none."""
        if not isinstance(node.value, ast.Constant | ast.Yield | ast.YieldFrom):
            self._note(node, "pass", "pass")
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        """A name that is bound nowhere is a mistake that no test has to find."""
        if all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
            self._note(node, "pass", "pass")
        self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._note(node, "pass", "pass")
        self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> None:
        self._note(node, "pass", "pass")

    def visit_Break(self, node: ast.Break) -> None:
        self._note(node, "continue", "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._note(node, "break", "break")

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is None:
            return
        if not (isinstance(node.value, ast.Constant) and node.value.value is None):
            returns = self._function and self._function.returns
            is_claim = returns is not None and ast.unparse(returns) == "bool"
            after = f"return not ({ast.unparse(node.value)})" if is_claim else "return None"
            self._note(node, after, after)
        self.visit(node.value)

    # -- expressions ---------------------------------------------------------------------------

    def visit_Compare(self, node: ast.Compare) -> None:
        for place, operator in enumerate(node.ops):
            for other in SWAPS[type(operator)]:
                changed = copy.deepcopy(node)
                changed.ops[place] = other()
                self._replace(node, changed)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._replace(node, ast.BoolOp(other, node.values))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._replace(node, node.operand)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if type(node.value) is int:
            for other in (node.value + 1, node.value - 1):
                self._replace(node, ast.Constant(other))


def _said(text: str) -> str:
    """On one line, and no longer than one can read."""
    line = " ".join(text.split())
    return line if len(line) <= SAID_MAX else f"{line[: SAID_MAX - 1]}…"
