"""Manifest: the objects of a cluster from kubectl's YAML or JSON, and back to YAML.

Objects of known kinds are read. Their unknown fields stay with them and are written again. Objects
of unknown kinds are skipped, and Secrets are skipped unread. The user hears of each such field and
kind once. Mistakes are reported together, each with its file, document, line and field.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from testbed.code.files import read_bytes
from testbed.code.printable import in_line
from testbed.errors import ManifestRefused
from testbed.objects import form
from testbed.objects.kinds import KINDS
from testbed.objects.manifests.scalar import lines
from testbed.objects.manifests.yaml_stream import (
    BYTES_MAX,
    Broken,
    DocumentReader,
    DocumentText,
    lines_of,
    parts,
)
from testbed.objects.meta import UNSET, Object
from testbed.objects.names import wrong_names
from testbed.objects.plain import MAPPING, Misfit, shown

ENDINGS = (".yaml", ".yml", ".json")
RACES = (".race.yaml", ".race.yml", ".race.json")
"""Race files, which are skipped when a folder is read."""
MISTAKES_MAX = 20
"""How many mistakes are reported; further ones are counted."""
SECRET, UNMODELLED = "never read", "not modelled"
NEVER_KEPT = ("managedFields",)
"""Fields of the metadata that are dropped. This one records which client set which field: it is
larger than the object, and means nothing here."""
A_TEXT = "a text"
NAMED_RIGHT = "give a name that Kubernetes lets it have."
_CLASSES = {(cls.api_version, cls.kind): cls for cls in KINDS}
OnProgress = Callable[[str, int, int], None]
"""Called with what is being read, how much of it is done, and how much it is in all."""


@attrs.frozen
class Kept:
    """An unknown field, which is kept with its objects."""

    path: str
    kind: str
    count: int
    """How many objects have it."""

    def __str__(self) -> str:
        return in_line(f"{self.path} of {self.kind}: kept, not modelled ({_objects(self.count)})")


@attrs.frozen
class Skipped:
    """A kind that is skipped."""

    kind: str
    api_version: str
    count: int
    why: str

    def __str__(self) -> str:
        count = _objects(self.count)
        return in_line(f"{self.kind} ({self.api_version}): skipped, {self.why} ({count})")


@attrs.frozen
class Mistake:
    """One mistake, and where it is."""

    file: str
    document: int
    """Counted from 1, without empty ones; 0: the file as a whole."""
    line: int
    problem: str
    next_step: str

    def __str__(self) -> str:
        where = f", line {self.line} (document {self.document})" if self.document else ""
        return in_line(f"{self.file}{where}: {self.problem}")


@attrs.frozen
class Manifest:
    """The contents of some files."""

    items: tuple[Object, ...]
    """The objects, in the order of the files."""
    kept: tuple[Kept, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    mistakes_count: int = 0
    """How many there are in all; `mistakes` holds only the first."""

    def checked(self) -> Manifest:
        """The Manifest itself if it has no mistakes; else ManifestRefused, which lists them."""
        if not self.mistakes:
            return self
        lines = [str(mistake) for mistake in self.mistakes]
        if (more := self.mistakes_count - len(lines)) > 0:
            lines.append(f"and {more:,} more")
        problem = (
            lines[0]
            if len(lines) == 1
            else "\n  ".join([f"{self.mistakes_count:,} mistakes:", *lines])
        )
        raise ManifestRefused(f"{problem}.\nNext: {self.mistakes[0].next_step}")


def load(*paths: str | Path) -> list[Object]:
    """The objects of these files, and of the manifests in these folders: `world.add(*load(…))`."""
    return list(read(*paths).checked().items)


def parse(text: str, name: str = "manifest") -> list[Object]:
    """The objects of a text."""
    reading = _Reading()
    with _uncollected():
        reading.take(text.encode(), name)
    return list(reading.manifest().checked().items)


def read(*paths: str | Path, on_progress: OnProgress = lambda *_: None) -> Manifest:
    """The contents of these files, with their mistakes."""
    reading = _Reading(on_progress)
    for path in map(Path, paths):
        try:
            files = _files(path)
        except _Unread as unread:
            reading.note(Mistake(str(path), 0, 0, unread.problem, unread.next_step))
            continue
        for file in files:
            reading.take_file(file)
    return reading.manifest()


def dump(items: Iterable[Object]) -> str:
    """These objects as YAML that kubectl accepts. Equal objects give equal texts: names are sorted,
    and the resourceVersion is left out, since each Store sets its own."""
    trees = (form.to_tree(item.with_meta(revision=UNSET)) for item in items)
    return "---\n".join("\n".join(lines(tree)) + "\n" for tree in trees)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Pause garbage collection, which would walk through all that was read again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    names = (file for file in path.rglob("*") if file.name.endswith(ENDINGS))
    found = sorted(file for file in names if not file.name.endswith(RACES))
    if not found:
        raise _Unread(
            f"no manifest is in it: expected a file that ends in {', '.join(ENDINGS)}",
            "give the folder of your manifests, or a file.",
        )
    return found


def _bytes(path: Path) -> bytes:
    """The bytes of a file; _Unread if there is none or it is too large."""
    size = 0
    try:
        size, raw = path.stat().st_size, read_bytes(path, BYTES_MAX + 1)
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise _Unread(problem, "give the path of a file, or of a folder.") from error
    if max(size, len(raw)) > BYTES_MAX:
        found = f"{max(size, len(raw)):,}"
        problem = f"too large: a manifest may have {BYTES_MAX:,} bytes, this has {found}"
        raise _Unread(problem, "give it in several files.")
    return raw


class _Unread(Exception):
    """A file that cannot be read at all."""

    def __init__(self, problem: str, next_step: str) -> None:
        super().__init__(problem, next_step)
        self.problem = problem
        self.next_step = next_step


class _Reading:
    """Collects what has been read so far."""

    def __init__(self, on_progress: OnProgress = lambda *_: None) -> None:
        self._on_progress = on_progress
        self._items: list[Object] = []
        self._places: dict[str, str] = {}
        """By key, the place at which the object was first found."""
        self._kept: dict[tuple[str, str], int] = {}
        self._skipped: dict[tuple[str, str, str], int] = {}
        self._mistakes: list[Mistake] = []
        self._count = 0

    def manifest(self) -> Manifest:
        """All that was read."""
        return Manifest(
            tuple(self._items),
            tuple(Kept(path, kind, n) for (kind, path), n in sorted(self._kept.items())),
            tuple(
                Skipped(kind, of, n, why) for (kind, of, why), n in sorted(self._skipped.items())
            ),
            tuple(self._mistakes),
            self._count,
        )

    def note(self, mistake: Mistake) -> None:
        """Add a mistake."""
        self._count += 1
        if len(self._mistakes) < MISTAKES_MAX:
            self._mistakes.append(mistake)

    def take_file(self, path: Path) -> None:
        """Read every document of a file."""
        try:
            with _uncollected():
                self.take(_bytes(path), str(path))
        except _Unread as unread:
            self.note(Mistake(str(path), 0, 0, unread.problem, unread.next_step))

    def take(self, raw: bytes, file: str) -> None:
        """Read every document of a text."""
        reader, document, lines = DocumentReader(), 0, raw.count(b"\n")
        for part in parts(raw):
            try:
                trees = reader.trees(part, lambda line: self._on_progress("lines", line, lines))
            except Broken as broken:
                document += 1
                self.note(Mistake(file, document, broken.line, broken.problem, broken.next_step))
                if reader.is_full:
                    return
                continue
            for place, tree in enumerate(trees):
                if tree is not None:
                    document += 1
                    self._take_document(tree, _Place(file, document, part, place))

    def _take_document(self, tree: Any, place: _Place) -> None:
        found = list(_listed(tree))
        wrong: list[tuple[_Found, _Wrong]] = []
        for count, each in enumerate(found, 1):
            try:
                self._take_object(each, f"{place.file}, document {place.document}")
            except Misfit as misfit:
                wrong.append((each, _Wrong(misfit.path, str(misfit), _advice(misfit))))
            except _Wrong as other:
                wrong.append((each, other))
            self._on_progress("objects", count, len(found))
        if wrong:
            self._note_all(wrong, place)

    def _note_all(self, wrong: list[tuple[_Found, _Wrong]], place: _Place) -> None:
        """Add the mistakes of one document; those that will be reported, with their lines."""
        # To find lines means to parse the document again: so once for all, and not for the rest.
        reported = wrong[: MISTAKES_MAX - len(self._mistakes)]
        lines = lines_of(place.part, [(place.nth, why.path) for _, why in reported])
        for (of, why), line in zip(reported, lines, strict=True):
            problem = f"{of.called}: {why.problem}" if of.called else why.problem
            self.note(Mistake(place.file, place.document, line, problem, why.next_step))
        self._count += len(wrong) - len(reported)

    def _take_object(self, found: _Found, where: str) -> None:
        tree, path = found.tree, found.path
        if not isinstance(tree, dict):
            raise Misfit(path, MAPPING, tree)
        for name, value in (("kind", found.kind), ("apiVersion", found.api_version)):
            if not isinstance(value, str) or not value:
                raise Misfit(_below(path, name), A_TEXT, value)
        if found.kind == "Secret":
            self._skip(found, SECRET)
        elif (cls := _CLASSES.get((found.api_version, found.kind))) is None:
            self._skip(found, UNMODELLED)
        else:
            self._keep(form.from_tree(cls, _lean(tree), path), path, where)

    def _skip(self, found: _Found, why: str) -> None:
        what = (found.kind, found.api_version, why)
        self._skipped[what] = self._skipped.get(what, 0) + 1

    def _keep(self, item: Object, path: str, where: str) -> None:
        if not item.meta.name:
            raise Misfit(_below(path, "metadata.name"), "a name", None)
        for wrong in wrong_names(item):
            where, _, said = wrong.partition(": ")
            raise _Wrong(_below(path, where), f"{where}: {said}", NAMED_RIGHT)
        if item.key in self._places:
            problem = f"{item.key} a second time ({self._places[item.key]} has it)"
            raise _Wrong(_below(path, "metadata.name"), problem, "leave one of the two out.")
        self._places[item.key] = where
        self._items.append(item.with_meta(revision=UNSET))
        for each in dict.fromkeys(form.unmodelled(type(item), item.extra)):
            self._kept[item.kind, each] = self._kept.get((item.kind, each), 0) + 1


@attrs.frozen
class _Place:
    """The place of a document."""

    file: str
    document: int
    part: DocumentText
    nth: int
    """Its number within its part."""


@attrs.frozen
class _Found:
    """One object of a document, as its tree."""

    tree: Any
    path: str
    """Its path in the document; empty if it is the whole document."""
    kind: Any
    api_version: Any

    @property
    def called(self) -> str:
        """Its kind, namespace and name, as far as they are given."""
        meta = self.tree.get("metadata") if isinstance(self.tree, dict) else None
        meta = meta if isinstance(meta, dict) else {}
        parts = [each for name in ("namespace", "name") if isinstance(each := meta.get(name), str)]
        return f"{self.kind} {'/'.join(parts)}".strip() if isinstance(self.kind, str) else ""


class _Wrong(Exception):
    """A mistake in an object other than a value of the wrong type."""

    def __init__(self, path: str, problem: str, next_step: str) -> None:
        super().__init__(path, problem, next_step)
        self.path = path
        self.problem = problem
        self.next_step = next_step


def _listed(
    tree: Any, path: str = "", kind: Any = None, api_version: Any = None
) -> Iterator[_Found]:
    """The one object of a tree, or all items of a `List` or a `PodList`. Items may leave out their
    kind: a `PodList` gives it."""
    if isinstance(tree, dict):
        kind, api_version = tree.get("kind", kind), tree.get("apiVersion", api_version)
        items = tree.get("items", "")
        if isinstance(kind, str) and kind.endswith("List") and isinstance(items, list | None):
            of = kind.removesuffix("List")
            for place, each in enumerate(items or ()):
                here = _below(path, f"items[{place}]")
                yield from _listed(each, here, of or None, api_version if of else None)
            return
    yield _Found(tree, path, kind, api_version)


def _lean(tree: dict[str, Any]) -> dict[str, Any]:
    """The tree of an object without the metadata that is never kept."""
    meta = tree.get("metadata")
    if not isinstance(meta, dict) or not any(name in meta for name in NEVER_KEPT):
        return tree
    return {**tree, "metadata": {k: v for k, v in meta.items() if k not in NEVER_KEPT}}


def _advice(misfit: Misfit) -> str:
    """What to do about a value of the wrong type."""
    found = misfit.found
    if misfit.expected != A_TEXT or found is None or isinstance(found, dict | list):
        return f"give {misfit.expected}."
    word = shown(found)
    if isinstance(found, bool):
        alike = "no, n and off" if not found else "yes, y and on"
        return f"quote it; without quotes YAML takes {alike} for {word}."
    return f'quote it: "{word}".'


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _objects(count: int) -> str:
    return f"{count:,} object{'' if count == 1 else 's'}"
