"""testbed manifest: checks manifests, and shows what the testbed understands of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import click

from testbed.cli.output import say
from testbed.cli.progress import counting
from testbed.cli.show import EXIT_CODES, JSON, say_json
from testbed.objects.manifests.manifest import Manifest, read
from testbed.objects.meta import Object
from testbed.words import counted

FINE, BAD = 0, 2
NAMES_MAX = 5
"""The number of names shown of each kind; the others are counted."""


@click.command("manifest", epilog=f"0 all is understood, 2 a mistake. {EXIT_CODES}")
@click.argument("paths", nargs=-1, required=True, metavar="FILE|DIR...")
@click.option("--json", "as_json", is_flag=True, help=JSON)
def command(paths: tuple[str, ...], as_json: bool) -> int:
    """Check Kubernetes manifests, in YAML or JSON: each FILE, and those in a DIR.

    Shows the objects that a World would get from them, the fields that are kept but not modelled,
    and what is skipped.
    """
    found = _read(paths)
    if as_json:
        say_json(_as_dict(found))
        return BAD if found.mistakes else FINE
    for line in _lines(found.checked()):
        say(line)
    listed = ", ".join(f'"{path}"' for path in paths)
    say(f"Next: world.add(*manifest.load({listed})) in a scenario; docs/manifests.md shows one.")
    return FINE


def _read(paths: tuple[str, ...]) -> Manifest:
    with ExitStack() as stack:
        counters: dict[str, Callable[[int, int], None]] = {}

        def on_progress(what: str, done: int, total: int) -> None:
            if what not in counters:
                counters[what] = stack.enter_context(counting(f"{what} read"))
            counters[what](done, total)

        return read(*paths, on_progress=on_progress)


def _lines(found: Manifest) -> Iterator[str]:
    kinds = _by_kind(found)
    width = max(map(len, kinds), default=0)
    for kind, items in kinds.items():
        names = [_name(item) for item in items[:NAMES_MAX]]
        if (more := len(items) - len(names)) > 0:
            names.append(f"and {more:,} more")
        yield f"{kind.ljust(width)}  {len(items):>5,}  {', '.join(names)}"
    yield from map(str, found.kept)
    yield from map(str, found.skipped)
    yield f"{counted(len(found.items), 'object')} understood."


def _by_kind(found: Manifest) -> dict[str, list[Object]]:
    kinds: dict[str, list[Object]] = {}
    for item in found.items:
        kinds.setdefault(item.kind, []).append(item)
    return dict(sorted(kinds.items()))


def _name(item: Object) -> str:
    return item.key.partition("/")[2]


def _as_dict(found: Manifest) -> dict[str, Any]:
    return {
        "code": BAD if found.mistakes else FINE,
        "objects": {kind: [_name(each) for each in of] for kind, of in _by_kind(found).items()},
        "kept": [{"path": k.path, "kind": k.kind, "objects": k.count} for k in found.kept],
        "skipped": [
            {"kind": s.kind, "api_version": s.api_version, "objects": s.count, "why": s.why}
            for s in found.skipped
        ],
        "mistakes": [
            {
                "file": m.file,
                "document": m.document,
                "line": m.line,
                "said": m.problem,
                "next": m.next_step,
            }
            for m in found.mistakes
        ],
        "mistakes_count": found.mistakes_count,
    }
