"""Mistakes by the hundred: what is edited, what is left, and that tests notice nearly all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.each_row import each_row
from tests.models.mutation import drawn, edits_of
from tests.models.seeded_mutants import EXPLAINED, HUNG, SUBJECTS, Copy, Mutant, mutants_of, sample
from tests.shared.scratch import ROOT

ROOMS = (
    "testbed/store",
    "testbed/choosers",
    "actors/framework/filters",
    "actors/scheduler/queue",
    "actors/scheduler/preemption",
)
OF_EACH, KILLED_PERCENT = 25, 90
HEAP, HEAP_TESTS = "actors/scheduler/queue/heap.py", "tests/actors/scheduler/queue/test_heap.py"

# -- what is edited -------------------------------------------------------------------------------

EDITED = {
    "x = a < b": ["a < b → a <= b", "a < b → a >= b"],
    "x = a >= b": ["a >= b → a > b", "a >= b → a < b"],
    "x = a == b": ["a == b → a != b"],
    "x = a is None": ["a is None → a is not None"],
    "x = a in b": ["a in b → a not in b"],
    "x = a and b and c": ["a and b and c → a or b or c"],
    "x = not a": ["not a → a"],
    "x = 10": ["10 → 11", "10 → 9"],
    "x = f(a, 0)": ["0 → 1", "0 → -1"],
    "x: bool = False": ["False → True"],
    "f(a)": ["f(a) → pass"],
    "a.b = c": ["a.b = c → pass"],
    "a[b] = c": ["a[b] = c → pass"],
    "a += b": ["a += b → pass"],
    "del a[b]": ["del a[b] → pass"],
    "while a:\n    break": ["break → continue"],
    "while a:\n    continue": ["continue → break"],
    "def f(a=True, *, b=False): ...": ["True → False", "False → True"],
    "def f(a): return a": ["return a → return None"],
    "def f(a) -> bool: return a": ["return a → return not (a)"],
    "x = 'ü', not a": ["not a → a"],
    "x = (\n    a\n    == b\n)": ["a == b → a != b"],
}
LEFT = [
    '"""What it is: 1 < 2."""',
    "class A:\n    def __repr__(self): return 1",
    "raise Error(a < b, 1)",
    "assert a < b",
    "x = f'{a < b} of {1}'",
    "x: tuple[1, 2]",
    "def f(a: 1) -> 2: ...",
    "if TYPE_CHECKING:\n    x = 1",
    "import a",
    "@wrapped(1)\nclass A: ...",
    "x = a",
    "x = True",
    "def f():\n    yield",
    "def f(): return",
    "def f(): return None",
]


@each_row("source", EDITED)
def test_each_kind_of_mistake_is_made(source: str) -> None:
    """Just these, and what is said of each is what its text then says."""
    edits = edits_of(source)
    assert [f"{edit.before} → {edit.after}" for edit in edits] == EDITED[source]
    for edit in edits:
        made = edit.made_in(source)
        compile(made, "made", "exec")
        assert made != source
        assert edit.after in made


@each_row("source", LEFT)
def test_what_people_read_is_left_as_it_is(source: str) -> None:
    """So is what would only make a name or a handler unknown."""
    assert edits_of(source) == ()


def test_a_mistake_is_made_in_its_place_only() -> None:
    """It is named by the function, and counted where one reads as another."""
    source = "class A:\n    def f(self):\n        g(1)\n        h(1)\n"
    edits = {edit.name: edit for edit in edits_of(source)}
    assert list(edits) == [
        "A.f: g(1) → pass",
        "A.f: 1 → 2",
        "A.f: 1 → 0",
        "A.f: h(1) → pass",
        "A.f: 1 → 2 #2",
        "A.f: 1 → 0 #2",
    ]
    second = edits["A.f: 1 → 2 #2"]
    assert second.line == 4
    assert second.made_in(source) == source.replace("h(1)", "h((2))")


# -- which are drawn ------------------------------------------------------------------------------


def test_a_seed_draws_the_same_whatever_else_there_is() -> None:
    """Another seed draws others; a name more moves no other name."""
    names = [f"name {number}" for number in range(50)]
    assert drawn(names, 0) == drawn(reversed(names), 0) != drawn(names, 1)
    assert [name for name in drawn([*names, "more"], 0) if name != "more"] == drawn(names, 0)


def test_a_part_of_a_sample_is_a_sample() -> None:
    """It takes one of each subject by turns; each is Python, and another."""
    mutants = list(sample(40, 0))
    assert len({(mutant.path, mutant.edit.name) for mutant in mutants}) == 40
    assert [mutant.path in SUBJECTS["watch"] for mutant in mutants[:16]].count(True) == 2
    for mutant in mutants:
        source = (ROOT / mutant.path).read_text(encoding="utf-8")
        compile(mutant.edit.made_in(source), mutant.path, "exec")


def test_each_file_of_the_rooms_has_its_tests() -> None:
    """None is forgotten, and every test that is named is there."""
    listed = {path: tests for files in SUBJECTS.values() for path, tests in files.items()}
    there = {str(path.relative_to(ROOT)) for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    assert {path for path in there if not path.endswith("__init__.py")} <= listed.keys()
    for path, tests in listed.items():
        assert (ROOT / path).is_file(), path
        for test in tests:
            assert (ROOT / test).exists(), f"{path}: {test}"


def test_what_is_explained_is_there() -> None:
    """An explanation names an edit that can still be made, and gives a reason."""
    for path, reasons in EXPLAINED.items():
        names = {edit.name for edit in edits_of((ROOT / path).read_text(encoding="utf-8"))}
        assert reasons.keys() <= names, path
        assert all(reasons.values()), path


# -- what becomes of them -------------------------------------------------------------------------


def heap_mutant(name: str) -> Mutant:
    """The mutant of that name of the file."""
    edits = edits_of((ROOT / HEAP).read_text(encoding="utf-8"))
    return Mutant(HEAP, next(edit for edit in edits if edit.name == name))


def test_a_mutant_is_killed_hangs_or_lives(tmp_path: Path) -> None:
    """The test that fails is named; what does not end is ended. The copy is mended after each, and
    the tree itself is never touched."""
    before = (ROOT / HEAP).read_text(encoding="utf-8")
    copy = Copy(tmp_path)
    upside_down = heap_mutant("Heap.first: found[0] == rank → found[0] != rank")
    assert copy.fate_of(upside_down, HEAP_TESTS).killed_by.startswith(f"{HEAP_TESTS}::test_")
    endless = heap_mutant("Heap.first: heappop(self._heap) → pass")
    assert copy.fate_of(endless, HEAP_TESTS, seconds_max=2).killed_by == HUNG
    length = "2 * len(self._items) + 8"
    sooner = heap_mutant(f"Heap.put: len(self._heap) > {length} → len(self._heap) >= {length}")
    assert copy.fate_of(sooner, HEAP_TESTS).killed_by == ""
    assert (tmp_path / HEAP).read_text(encoding="utf-8") == before
    assert (ROOT / HEAP).read_text(encoding="utf-8") == before


@pytest.mark.long
@pytest.mark.parametrize("subject", SUBJECTS)
def test_nearly_all_are_killed(subject: str, tmp_path: Path) -> None:
    """Nine of ten by the file's own tests, or it is explained why none can tell them."""
    copy = Copy(tmp_path)
    for tests in set(SUBJECTS[subject].values()):
        assert copy.failing(tests) == "", "without any mistake"
    fates = [copy.fate_of(mutant) for mutant in mutants_of(subject, OF_EACH, seed=0)]
    told = "\n".join(fate.line for fate in fates)
    settled = sum(bool(fate.killed_by or fate.mutant.explained) for fate in fates)
    assert settled >= KILLED_PERCENT * len(fates) / 100, told
