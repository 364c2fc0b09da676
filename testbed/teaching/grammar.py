"""Grammar: what the file of an answer may hold, read from its text before any of it is run.

A program of a World sees what its Client shows it, and remembers what is local to its `run`. So a
file may import little, keeps nothing that two programs or two lives would share, and does nothing
when it is imported. This tells students what is wrong with a file; it is no prison for bad code.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from string import Formatter
from types import ModuleType

from testbed.teaching.lending import KEPT_BACK, NAMES, OURS, PLAIN, lent_of

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
SHARED = "two programs, and two lives of one program, would share it"
LOCAL = "keep it in a variable inside `run`"
CONSTANT = (
    ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.unaryop,
    ast.operator, ast.expr_context, ast.Subscript, ast.JoinedStr, ast.FormattedValue,
)  # fmt: skip
"""What a value is made of that can never change."""
MAKERS = (
    "frozenset", "tuple", "range", "str", "int", "float", "re.compile", "collections.namedtuple",
    "typing.NewType", "typing.TypeVar",
)  # fmt: skip
"""What makes a value that can never change, of what it is given."""
DECORATORS = (
    "staticmethod", "classmethod", "property", "attrs.frozen", "attrs.define", "attrs.mutable",
    "dataclasses.dataclass", "contextlib.contextmanager", "contextlib.asynccontextmanager",
    "functools.total_ordering", "typing.override", "typing.final", "typing.overload",
    "typing.runtime_checkable", "abc.abstractmethod", "enum.unique",
)  # fmt: skip
"""Those that keep nothing from one call to the next."""
PROMISED = "use what docs/api.md promises"
BINDS = (
    "Name", "alias", "keyword", "arg", "ExceptHandler", "MatchAs", "MatchStar", "MatchMapping",
    "ClassDef", "Nonlocal", "TypeVar", "ParamSpec", "TypeVarTuple",
)  # fmt: skip
"""The kinds of nodes whose name is one of the file's own, and reaches nothing by itself. Some are
of a newer Python."""
SPECIAL = frozenset(f"__{name}__" for name in (
    "init", "post_init", "attrs_post_init", "repr", "str", "format", "bool", "hash", "eq", "ne",
    "lt", "le", "gt", "ge", "len", "iter", "next", "reversed", "contains", "getitem", "setitem",
    "delitem", "call", "enter", "exit", "aenter", "aexit", "aiter", "anext", "add", "radd", "iadd",
    "sub", "rsub", "isub", "mul", "rmul", "neg", "abs", "int", "and", "or", "xor", "invert",
    "missing",
))  # fmt: skip
"""The names by which Python calls a class of the file's own; no other one leads further."""
INSPECTS = frozenset((
    "ag_await", "ag_code", "ag_frame", "cr_await", "cr_code", "cr_frame", "cr_origin", "f_back",
    "f_builtins", "f_code", "f_globals", "f_lasti", "f_locals", "f_trace", "gi_code", "gi_frame",
    "gi_yieldfrom", "tb_frame", "tb_next",
))  # fmt: skip
"""Names by which Python shows the code that runs, and so all that any module holds."""
TYPING = ("TYPE_CHECKING", "typing.TYPE_CHECKING")
OF_PROPERTY = ("setter", "getter", "deleter")
DECORATE = "leave it away, and keep what is needed in a variable inside `run`"
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Complaint = tuple[int, str, str]
"""The line, what stands there, and what to do instead."""


def complaint_about(tree: ast.Module, level: str) -> Complaint | None:
    """The first thing in the file that may not stand there; `level` is the module of the level,
    which it may import."""
    found = [*_of_imports(tree, level), *_of_names(tree), *_of_what_is_kept(tree)]
    return min(found, default=None)


def _of_imports(tree: ast.Module, level: str) -> Iterator[Complaint]:
    may = f"import only {', '.join(OURS)}, {level}, and plain parts of Python"
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
                top = module.partition(".")[0]
                yield node.lineno, f"it imports {module}", INSTEAD.get(top, may)
    yield from _of_what_is_lent(tree, level, may)


def _of_what_is_lent(tree: ast.Module, level: str, may: str) -> Iterator[Complaint]:
    """The names of modules that are not lent, by an import or by a chain of attributes."""
    imported, lent = _imported(tree), {}
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names, level=0):
                reached = [(f"{module}.{each.name}", each.name) for each in names]
            case ast.Attribute() if ast.unparse(node).partition(".")[0] in imported:
                reached = [(_origin(node, imported), ast.unparse(node))]
            case _:
                continue
        for origin, shown in reached:
            module, _, name = origin.rpartition(".")
            if module not in (*OURS, *PLAIN, level) or module == "__future__":
                continue
            if module not in lent:
                lent[module] = lent_of(module, level)
            if name not in lent[module] and origin not in (*OURS, *PLAIN, level):
                yield node.lineno, *_not_lent(module, name, shown, may)


def _not_lent(module: str, name: str, shown: str, may: str) -> tuple[str, str]:
    """Return what to say of a name of a module that is not lent, and what to do instead."""
    there = getattr(sys.modules.get(module), name, None)
    if isinstance(there, ModuleType):
        what = f"it reaches the module {there.__name__} by `{shown}`"
        return what, INSTEAD.get(there.__name__, may)
    why = KEPT_BACK.get(f"{module}.{name}", "it is not for programs of a World")
    return f"it takes `{name}` of {module}: {why}", "do it in `run`, with what a level asks for"


def _imported(tree: ast.Module) -> dict[str, str]:
    """Where each name that an import makes comes from: `cache` from `functools.cache`."""
    found = dict[str, str]()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for each in names:
                    top = each.name.partition(".")[0]
                    found[each.asname or top] = each.name if each.asname else top
            case ast.ImportFrom(module=str(module), names=names, level=0):
                found.update({each.asname or each.name: f"{module}.{each.name}" for each in names})
    return found


def _of_names(tree: ast.Module) -> Iterator[Complaint]:
    """The names that no answer may use. Whatever Python keeps as a name of a node is one: in a
    pattern, an argument, an import or a text to be formatted as well as in an expression."""
    for node, line in _with_lines(tree, 1):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) if name in NAMES:
                yield line, f"it uses `{name}`", NAMES[name]
            case ast.Constant(value=str(text)):
                for name in filter(_is_private, _names_in_format(text)):
                    yield line, f"{text!r} reaches for `{name}`, which is private", PROMISED
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if name[:2] != "__":
                continue
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if name[:2] == "__" and name not in SPECIAL:
                    yield line, f"it defines `{name}`, by which Python reaches more", PROMISED
            case _:
                binds = type(node).__name__ in BINDS
                for name in filter(_is_private, _names_of(node)):
                    if name[:2] == "__" or not binds:
                        shown = _shown(node, name)
                        yield line, f"it reaches for `{shown}`, which is private", PROMISED


def _with_lines(node: ast.AST, line: int) -> Iterator[tuple[ast.AST, int]]:
    """Each node with its line; one that has none has that of what it stands in."""
    line = getattr(node, "lineno", line)
    yield node, line
    for child in ast.iter_child_nodes(node):
        yield from _with_lines(child, line)


def _names_of(node: ast.AST) -> Iterator[str]:
    """Each name that the node has by itself: all its texts, of whatever kind it is."""
    for _, value in ast.iter_fields(node):
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str):
                yield from each.split(".")


def _names_in_format(text: str) -> Iterator[str]:
    """Each name that `format` would look up in that text."""
    try:
        fields = [field for _, field, _, _ in Formatter().parse(text) if field]
    except ValueError:
        return
    for field in fields:
        yield from re.split(r"[.\[\]]", field)[1:]


def _is_private(name: str) -> bool:
    is_hidden = name[:1] == "_" and bool(name.strip("_"))
    return name in INSPECTS or (is_hidden and name not in ("__future__", "__name__"))


def _shown(node: ast.AST, name: str) -> str:
    return ast.unparse(node) if isinstance(node, ast.expr) else name


def _of_what_is_kept(tree: ast.Module) -> Iterator[Complaint]:
    """Return what is kept outside of `run`, or done when the file is imported."""
    own = {name: f"{name} of this file" for node in tree.body for name in _names_made_by(node)}
    origins = {**own, **_imported(tree)}
    yield from _of_body(tree.body, origins)
    for node in _outside(tree):
        match node:
            case (
                ast.FunctionDef(args=args) | ast.AsyncFunctionDef(args=args) | ast.Lambda(args=args)
            ):
                for value in (*args.defaults, *filter(None, args.kw_defaults)):
                    if not _is_constant(value, origins):
                        what = f"the default `{ast.unparse(value)}` is made once"
                        yield value.lineno, f"{what}, and {SHARED}", LOCAL
            case ast.ClassDef(body=body, bases=bases, keywords=keywords):
                yield from _of_body(body, origins)
                for value in (*bases, *(each.value for each in keywords)):
                    if not _is_constant(value, origins):
                        what = f"`{ast.unparse(value)}` runs when the file is imported"
                        yield value.lineno, what, "name a class"
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _of_decorators(node.decorator_list, origins)
    yield from _of_settings(tree)


def _outside(node: ast.AST) -> Iterator[ast.AST]:
    """Return what Python looks at when the file is imported: all but what stands in a function.
    What a function makes, it makes for each call."""
    yield node
    for name, value in ast.iter_fields(node):
        if name == "body" and isinstance(node, Function):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _outside(child)


def _of_decorators(decorators: list[ast.expr], origins: dict[str, str]) -> Iterator[Complaint]:
    for each in decorators:
        called = each.func if isinstance(each, ast.Call) else each
        is_of_property = isinstance(called, ast.Attribute) and called.attr in OF_PROPERTY
        if _origin(called, origins) not in DECORATORS and not is_of_property:
            what = f"`@{ast.unparse(each)}` may keep what a call has left, and {SHARED}"
            yield each.lineno, what, DECORATE


def _origin(node: ast.expr, origins: dict[str, str]) -> str:
    """Where a name or a chain of attributes comes from, in words: `functools.cache`."""
    first, dot, rest = ast.unparse(node).partition(".")
    return f"{origins.get(first, first)}{dot}{rest}"


def _of_settings(tree: ast.Module) -> Iterator[Complaint]:
    """Return what is set or deleted of a thing that outlives `run`: of what stands at the top of
    the file, of a class, or of an actor, which attrs makes and which so cannot change."""
    tops = {name for node in tree.body for name in _names_made_by(node)}
    for each in ast.walk(tree):
        if isinstance(each, ast.Global):
            yield each.lineno, f"`{ast.unparse(each)}`: {SHARED}", LOCAL
    for node in _set_in(tree):
        root = _root_of(node)
        if (isinstance(root, ast.Name) and root.id in {*tops, "cls"}) or _is_type_of(root):
            how = "deletes" if isinstance(node.ctx, ast.Del) else "sets"
            yield node.lineno, f"it {how} `{ast.unparse(node)}`, and {SHARED}", LOCAL
    plain = set[str]()
    for owner in tree.body:
        if not isinstance(owner, ast.ClassDef):
            continue
        if all(_is_plain(base, plain, _imported(tree)) for base in owner.bases):
            plain.add(owner.name)
            continue
        for node in _set_in(owner):
            root = _root_of(node)
            if isinstance(node, ast.Attribute) and isinstance(root, ast.Name) and root.id == "self":
                how = "deletes" if isinstance(node.ctx, ast.Del) else "sets"
                what = f"it {how} `{ast.unparse(node)}`, but the fields of an actor cannot change"
                yield node.lineno, what, LOCAL


def _is_plain(base: ast.expr, plain: Iterable[str], origins: dict[str, str]) -> bool:
    """Return whether a class of that base is no actor: it is Python's, or one of the file's own."""
    base = base.value if isinstance(base, ast.Subscript) else base
    name = _origin(base, origins)
    first = name.partition(".")[0]
    return name in plain or first in PLAIN or first in sys.modules["builtins"].__dict__


def _set_in(tree: ast.AST) -> Iterator[ast.Attribute | ast.Subscript]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            yield node


def _of_body(body: list[ast.stmt], origins: dict[str, str]) -> Iterator[Complaint]:
    """Return what stands in the body of a module or a class and is no definition of a constant."""
    for node in body:
        match node:
            case (
                ast.Import() | ast.ImportFrom() | ast.ClassDef() | ast.FunctionDef()
                | ast.AsyncFunctionDef() | ast.Pass() | ast.Expr(value=ast.Constant())
                | ast.AnnAssign(value=None)
            ):  # fmt: skip
                continue
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                if not _is_constant(value, origins):
                    what = f"`{ast.unparse(value)}` stands outside of `run`"
                    yield node.lineno, f"{what}, and {SHARED}", LOCAL
            case ast.If(test=test, orelse=otherwise) if _origin(test, origins) in TYPING:
                yield from _of_body(otherwise, origins)
            case _ if type(node).__name__ == "TypeAlias":  # Python 3.12 and newer
                continue
            case _:
                shown = ast.unparse(node).partition("\n")[0]
                yield node.lineno, f"`{shown}` runs when the file is imported", "do it in `run`"


def _is_constant(value: ast.AST, origins: dict[str, str]) -> bool:
    """Return whether it makes a value that can never change."""
    match value:
        case ast.Lambda():
            return True  # its defaults are looked at on their own
        case ast.Call(func=func, args=args, keywords=keywords):
            given = [*map(_elements, args), *([each.value] for each in keywords)]
            parts = [part for each in given for part in each]
            is_made = _origin(func, origins) in MAKERS
            return is_made and all(_is_constant(part, origins) for part in parts)
        case ast.Subscript(value=of, slice=slices):
            # A list there is one of types, as in Callable[[int], str].
            parts = slices.elts if isinstance(slices, ast.Tuple) else [slices]
            inner = [part for each in parts for part in _elements(each)]
            return all(_is_constant(part, origins) for part in (of, *inner))
    children = ast.iter_child_nodes(value)
    return isinstance(value, CONSTANT) and all(_is_constant(each, origins) for each in children)


def _elements(value: ast.expr) -> list[ast.expr]:
    """Return what a display holds that is only read; else the value itself."""
    return value.elts if isinstance(value, ast.List | ast.Set | ast.Tuple) else [value]


def _names_made_by(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (each.asname or each.name.partition(".")[0] for each in names)
        case ast.Assign(targets=targets):
            yield from (each.id for each in targets if isinstance(each, ast.Name))


def _root_of(node: ast.expr) -> ast.expr:
    """Return what a chain of attributes and indexes begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node


def _is_type_of(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="type")):
            return True
    return False
