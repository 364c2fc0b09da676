"""Grammar: what the file of an answer may hold, read from its text before any of it is run.

A program of a World sees what its Client shows it, and remembers what is local to its `run`. So a
file may import little, keeps nothing that two programs or two lives would share, and does nothing
when it is imported. This tells students what is wrong with a file; it is no prison for bad code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

OURS = ("testbed", "testbed.errors", "testbed.objects")
PLAIN = (
    "__future__", "abc", "attrs", "bisect", "collections", "collections.abc", "contextlib", "copy",
    "dataclasses", "enum", "functools", "heapq", "itertools", "json", "math", "operator", "re",
    "string", "textwrap", "typing",
)  # fmt: skip
"""Parts of Python that look at nothing outside."""
INSTEAD = {
    "asyncio": "say `await client.sleep(…)`, `client.spawn(…)` or `client.first(…)`",
    "datetime": "say `client.now()`",
    "os": "a program sees only what its Client shows",
    "random": "say `client.pick(…)`",
    "threading": "say `client.spawn(…)`",
    "time": "say `client.now()` and `await client.sleep(…)`",
    "trio": "say `await client.sleep(…)`, `client.spawn(…)` or `client.first(…)`",
}
"""What to do in place of a module that many would import."""
NAMES = {
    **dict.fromkeys(("exec", "eval", "compile", "__import__"), "write the code itself"),
    **dict.fromkeys(("getattr", "setattr", "delattr", "globals", "vars"), "name the attribute"),
    **dict.fromkeys(("open", "input", "breakpoint"), "a program sees only what its Client shows"),
    **dict.fromkeys(("exit", "quit", "SystemExit", "KeyboardInterrupt"), "`return` from `run`"),
    **dict.fromkeys(("BaseException", "GeneratorExit"), "say ApiError: that is what may go wrong"),
    **dict.fromkeys(("id", "hash"), "compare the values; these differ from process to process"),
    "print": "say client.record('what', value=…), which traces and stories show",
}
"""Names of Python that an answer may not use, each with what to do instead."""
SHARED = "two programs, and two lives of one program, would share it"
LOCAL = "keep it in a variable inside `run`"
CONSTANT = (
    ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.unaryop,
    ast.operator, ast.expr_context,
)  # fmt: skip
"""What a value is made of that can never change."""
Function = ast.FunctionDef | ast.AsyncFunctionDef
Complaint = tuple[int, str, str]
"""The line, what stands there, and what to do instead."""


def complaint_about(tree: ast.Module, level: str) -> Complaint | None:
    """The first thing in the file that may not stand there; `level` is the module of the level,
    which it may import."""
    found = [*_of_imports(tree, level), *_of_names(tree), *_of_what_is_kept(tree)]
    return min(found, default=None)


def _of_imports(tree: ast.Module, level: str) -> Iterator[Complaint]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                modules = [each.name for each in names]
            case ast.ImportFrom(module=module, level=0):
                modules = [module or ""]
            case ast.ImportFrom():
                modules = ["a file beside it"]
            case _:
                continue
        for module in modules:
            if module not in (*OURS, *PLAIN, level):
                may = f"import only {', '.join(OURS)}, {level}, and plain parts of Python"
                top = module.partition(".")[0]
                yield node.lineno, f"it imports {module}", INSTEAD.get(top, may)


def _of_names(tree: ast.Module) -> Iterator[Complaint]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) if name in NAMES:
                yield node.lineno, f"it uses `{name}`", NAMES[name]
            case ast.Attribute(attr=name, value=of) if name.startswith("_"):
                if not (isinstance(of, ast.Name) and of.id == "self" and name[:2] != "__"):
                    what = f"it reaches for `{ast.unparse(node)}`, which is private"
                    yield node.lineno, what, "use what docs/api.md promises"


def _of_what_is_kept(tree: ast.Module) -> Iterator[Complaint]:
    """What is kept outside of `run`, or done when the file is imported."""
    yield from _of_body(tree.body)
    tops = {name for node in tree.body for name in _names_made_by(node)}
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(body=body):
                yield from _of_body(body)
                yield from _of_settings(node)
            case ast.FunctionDef(args=args) | ast.AsyncFunctionDef(args=args):
                for value in (*args.defaults, *filter(None, args.kw_defaults)):
                    if not _is_constant(value):
                        what = f"the default `{ast.unparse(value)}` is made once"
                        yield value.lineno, f"{what}, and {SHARED}", LOCAL
            case ast.Global():
                yield node.lineno, f"`{ast.unparse(node)}`: {SHARED}", LOCAL
            case ast.Attribute(ctx=ast.Store()) if _root_of(node) in tops:
                yield node.lineno, f"it sets `{ast.unparse(node)}`, and {SHARED}", LOCAL


def _of_settings(owner: ast.ClassDef) -> Iterator[Complaint]:
    """What a class sets of itself that is made by attrs, as an actor is, and so cannot change."""
    if owner.decorator_list or any(getattr(each, "name", "") == "__init__" for each in owner.body):
        return
    for node in ast.walk(owner):
        match node:
            case ast.Attribute(ctx=ast.Store()) if _root_of(node) == "self":
                what = f"it sets `{ast.unparse(node)}`, but the fields of an actor cannot change"
                yield node.lineno, what, LOCAL


def _of_body(body: list[ast.stmt]) -> Iterator[Complaint]:
    """What stands in the body of a module or a class and is no definition of a constant."""
    for node in body:
        match node:
            case (
                ast.Import() | ast.ImportFrom() | ast.ClassDef() | ast.FunctionDef()
                | ast.AsyncFunctionDef() | ast.Pass() | ast.Expr(value=ast.Constant())
                | ast.AnnAssign(value=None)
            ):  # fmt: skip
                continue
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                if not _is_constant(value):
                    what = f"`{ast.unparse(value)}` stands outside of `run`"
                    yield node.lineno, f"{what}, and {SHARED}", LOCAL
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
            case _:
                shown = ast.unparse(node).partition("\n")[0]
                yield node.lineno, f"`{shown}` runs when the file is imported", "do it in `run`"


def _is_constant(value: ast.expr) -> bool:
    return all(isinstance(node, CONSTANT) for node in ast.walk(value))


def _names_made_by(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (each.asname or each.name for each in names)
        case _:
            return


def _root_of(node: ast.expr) -> str:
    """The name that a chain of attributes begins with; empty if it begins with another thing."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
