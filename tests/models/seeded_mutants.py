"""Mistakes made in the rooms that decide most, one at a time, and whether tests notice.

Of each subject as many mutants are drawn as are asked for. Each is put into a copy of the tree, and
the tests of its file are run there. Killed is one with which a test fails, or does not end.

.venv/bin/python -m tests.models.seeded_mutants 200            draws so many of all subjects
.venv/bin/python -m tests.models.seeded_mutants 40 watch 7     of one, with a seed of one's own
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import attrs

from tests.models.mutation import Edit, drawn, edits_of
from tests.shared.scratch import ROOT

STORE = (
    "tests/store/test_txn.py",
    "tests/store/test_watch.py",
    "tests/store/test_endpoint.py",
    "tests/store/test_watch_by_scan.py",
    "tests/store/test_listeners.py",
    "tests/store/test_store.py",
)
BOUNDED = ("tests/choosers/test_bounded.py",)
CLUSTER = ("tests/actors/scheduler/cluster/test_cache.py", "tests/actors/scheduler/placing")
COMPLETE = (
    "tests/choosers/test_orders.py",
    "tests/choosers/test_depth_first.py",
    "tests/choosers/test_complete.py",
    "tests/choosers/test_certificate.py",
    "tests/testing/test_unsound.py",
)
FAULTS_AND_RUNS = ("tests/choosers/test_choosers.py", "tests/choosers/test_continued.py")
SAMPLERS = (
    "tests/choosers/test_chance.py",
    "tests/choosers/test_learned.py",
    "tests/choosers/test_sampler.py",
    "tests/choosers/test_samplers.py",
)
SHRINK = ("tests/races/test_shrink.py", "tests/races/test_leaving_out.py")
FILTERS = (
    "tests/actors/framework/test_filters.py",
    "tests/actors/scheduler/placing/test_feasibility.py",
    "tests/actors/scheduler/preemption/test_trial.py",
    "tests/conformance/test_drawn.py",
)
QUEUE = ("tests/actors/scheduler/queue",)
PREEMPTION = ("tests/actors/scheduler/preemption", "tests/conformance/test_drawn.py")

SUBJECTS: dict[str, dict[str, tuple[str, ...]]] = {
    "store": {
        "testbed/store/altered.py": ("tests/store/test_altered.py",),
        "testbed/store/change.py": STORE,
        "testbed/store/delivery.py": STORE,
        "testbed/store/endpoint.py": STORE,
        "testbed/store/footprint.py": (*STORE, "tests/turns/test_option.py"),
        "testbed/store/kept.py": STORE,
        "testbed/store/listeners.py": STORE,
        "testbed/store/precondition.py": (
            "tests/actors/apiserver/test_patching.py",
            "tests/actors/apiserver/test_write.py",
            "tests/actors/apiserver/test_delete.py",
            "tests/actors/apiserver/test_evict.py",
        ),
        "testbed/store/retold.py": ("tests/store/test_retold.py",),
        "testbed/store/selector.py": STORE,
        "testbed/store/store.py": STORE,
        "testbed/store/store_endpoint.py": STORE,
        "testbed/store/txn.py": STORE,
    },
    "watch": {"testbed/store/watch.py": STORE},
    "cache": {
        "testbed/client/cache.py": ("tests/client/test_cache.py", "tests/client/test_audit.py"),
        "actors/scheduler/cluster/cache.py": CLUSTER,
    },
    "choosers": {
        "testbed/choosers/bounded.py": BOUNDED,
        "testbed/choosers/calm.py": FAULTS_AND_RUNS,
        "testbed/choosers/crossed.py": ("tests/search/test_crossing.py",),
        "testbed/choosers/certified.py": COMPLETE,
        "testbed/choosers/complete.py": COMPLETE,
        "testbed/choosers/continued.py": FAULTS_AND_RUNS,
        "testbed/choosers/deviations/deviating.py": BOUNDED,
        "testbed/choosers/drawn.py": FAULTS_AND_RUNS,
        "testbed/choosers/equivalence/certificate.py": COMPLETE,
        "testbed/choosers/equivalence/classes.py": COMPLETE,
        "testbed/choosers/equivalence/orders.py": COMPLETE,
        "testbed/choosers/equivalence/refusals.py": COMPLETE,
        "testbed/choosers/equivalence/repeats.py": COMPLETE,
        "testbed/choosers/equivalence/tree.py": COMPLETE,
        "testbed/choosers/deviations/frontier.py": (*BOUNDED, "tests/search/test_bounds.py"),
        "testbed/choosers/followed.py": (*COMPLETE, *FAULTS_AND_RUNS),
        "testbed/choosers/pct.py": SAMPLERS,
        "testbed/choosers/pos.py": SAMPLERS,
        "testbed/choosers/replayed.py": FAULTS_AND_RUNS,
        "testbed/choosers/sampling/chance.py": SAMPLERS,
        "testbed/choosers/sampling/learned.py": SAMPLERS,
        "testbed/choosers/sampling/profiler.py": SAMPLERS,
        "testbed/choosers/sampling/sampler.py": SAMPLERS,
        "testbed/choosers/struck.py": FAULTS_AND_RUNS,
        "testbed/choosers/surw.py": SAMPLERS,
        "testbed/choosers/uniform.py": FAULTS_AND_RUNS,
        "testbed/choosers/urw.py": SAMPLERS,
    },
    "shrink": {"testbed/races/shrink.py": SHRINK, "testbed/races/leaving_out.py": SHRINK},
    "filters": {
        f"actors/framework/filters/{name}.py": FILTERS
        for name in (
            "inter_pod_affinity",
            "node_affinity",
            "node_name",
            "node_ports",
            "node_unschedulable",
            "resources",
            "taint_toleration",
            "topology_spread",
        )
    },
    "queue": {
        f"actors/scheduler/queue/{name}.py": QUEUE
        for name in ("fifo", "heap", "in_flight", "priority_queue", "queued", "unschedulable")
    },
    "preemption": {
        f"actors/scheduler/preemption/{name}.py": PREEMPTION
        for name in (
            "affinity_to_victims",
            "budgets",
            "candidate",
            "choice",
            "cross_node",
            "dry_run",
            "eligibility",
            "ignoring",
            "importance",
            "lower_nominations",
            "preemption",
            "preemptor",
            "quick_trial",
            "trial",
            "victims",
        )
    },
}
"""Each subject's files, and of each its own tests, the quick ones first."""

BEGIN = "`begin` sets it before it is read; here it has its type"
FIRST = "before the first error the pause is the shortest anyway, which is all it is asked for"
SCORES = "scores of 63 bits or of 65 are as unlike each other; no seed is promised across versions"

PLACES = "a place in a Run is 0 or more"
ONE = "of one error the first is the last"

EXPLAINED: dict[str, dict[str, str]] = {
    "actors/scheduler/preemption/preemption.py": {"_no_candidate: 0 → -1": ONE},
    "testbed/choosers/deviations/deviating.py": {"Deviating.__init__: 0 → -1 #2": PLACES},
    "testbed/client/cache.py": {
        "Cache._read: 0 → 1": FIRST,
        "Cache._read: 0 → -1": FIRST,
    },
    "testbed/choosers/complete.py": {},
    "testbed/choosers/pos.py": {
        "POS.effect: 64 → 65": SCORES,
        "POS.effect: 64 → 63": SCORES,
    },
    "testbed/choosers/uniform.py": {
        "Uniform.__init__: self._chance = Chance(seed, 0) → pass": BEGIN,
        "Uniform.__init__: 0 → 1 #2": BEGIN,
        "Uniform.__init__: 0 → -1 #2": BEGIN,
        "Uniform.__init__: self._turn = 0 → pass": BEGIN,
        "Uniform.__init__: 0 → 1 #3": BEGIN,
        "Uniform.__init__: 0 → -1 #3": BEGIN,
    },
}
"""By file the mutants that no test can tell from the file as it is, or need not, and why."""

WHOLE = ("testbed", "actors", "scenarios", "tests", "docs")
ALONE_SECONDS_MAX, SECONDS_MAX, TIMES_MAX = 600, 20, 4
BYTES_MAX = 4 << 30
HUNG = "it hung"


@attrs.frozen
class Mutant:
    """A file with one mistake in it."""

    path: str
    edit: Edit

    @property
    def tests(self) -> tuple[str, ...]:
        """Those that have to notice."""
        return next(files[self.path] for files in SUBJECTS.values() if self.path in files)

    @property
    def explained(self) -> str:
        """Why none can, or none need; empty if there is no such reason."""
        return EXPLAINED.get(self.path, {}).get(self.edit.name, "")


@attrs.frozen
class Fate:
    """What became of a mutant."""

    mutant: Mutant
    killed_by: str
    """The test that failed, `it hung`, or nothing: then it lives."""

    @property
    def line(self) -> str:
        """What is printed of it."""
        edit = self.mutant.edit
        fate = f"killed: {self.killed_by}" if self.killed_by else "SURVIVED"
        if not self.killed_by and self.mutant.explained:
            fate = f"survived: {self.mutant.explained}"
        return f"{self.mutant.path}:{edit.line}: {edit.name}: {fate}"


def mutants_of(subject: str, count: int, seed: int) -> list[Mutant]:
    """So many of the subject, drawn from all of its files alike."""
    named = {
        f"{path} {edit.name}": Mutant(path, edit)
        for path in SUBJECTS[subject]
        for edit in edits_of((ROOT / path).read_text(encoding="utf-8"))
    }
    return [named[name] for name in drawn(named, seed)[:count]]


def sample(count: int, seed: int, *subjects: str) -> Iterator[Mutant]:
    """So many in all: of each subject one, then of each another; so a part is a sample, too."""
    left = count
    of_each = [mutants_of(subject, count, seed) for subject in subjects or SUBJECTS]
    for row in zip_longest(*of_each):
        for mutant in row:
            if mutant is not None and left:
                left -= 1
                yield mutant


class Copy:
    """The tree once more, in a folder in which mistakes are made and mended."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._took: dict[tuple[str, ...], float] = {}
        for part in WHOLE:
            shutil.copytree(ROOT / part, folder / part)
        for page in (*ROOT.glob("*.md"), ROOT / "pyproject.toml"):
            shutil.copy(page, folder)

    def failing(self, tests: tuple[str, ...]) -> str:
        """The first of these tests that fails without any mistake; how long they take is kept."""
        begun = time.monotonic()
        failed = self.killer_among(tests, ALONE_SECONDS_MAX)
        self._took[tests] = time.monotonic() - begun
        return failed

    def fate_of(self, mutant: Mutant, *given: str, seconds_max: float = 0) -> Fate:
        """Make the mistake, run these tests or all that have to notice, and mend it. A mutant hangs
        that takes some times as long as its tests without it."""
        tests = given or mutant.tests
        seconds_max = seconds_max or SECONDS_MAX + TIMES_MAX * self._took.get(tests, 0)
        path = self.folder / mutant.path
        source = path.read_text(encoding="utf-8")
        self._write(path, mutant.edit.made_in(source))
        try:
            return Fate(mutant, self.killer_among(tests, seconds_max))
        finally:
            self._write(path, source)

    def killer_among(self, tests: tuple[str, ...], seconds_max: float) -> str:
        """The first of the tests that fails, or HUNG; empty if all hold."""
        words = ["-x", "-q", "-n0", "-p", "no:cacheprovider", "--tb=no", "--durations=0"]
        with subprocess.Popen(
            [sys.executable, "-m", "pytest", *words, *tests],
            cwd=self.folder,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_bounded,
        ) as run:
            try:
                printed, _ = run.communicate(timeout=seconds_max)
            except subprocess.TimeoutExpired:
                return HUNG
            finally:  # also what it has begun itself, and also when Ctrl-C ends this
                if run.returncode is None:
                    os.killpg(run.pid, signal.SIGKILL)
        return _killer(run.returncode, printed)

    @staticmethod
    def _write(path: Path, text: str) -> None:
        """Without what was compiled: Python tells two texts of one length and second not apart."""
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            compiled.unlink()
        path.write_text(text, encoding="utf-8")


def _bounded() -> None:
    """A mutant may take all the memory there is."""
    resource.setrlimit(resource.RLIMIT_AS, (BYTES_MAX, BYTES_MAX))


def _killer(code: int, printed: str) -> str:
    if code == 0:
        return ""
    for line in printed.splitlines():
        if line.startswith(("FAILED ", "ERROR ")):
            return line.split(" - ")[0].split(maxsplit=1)[1]
    last = printed.strip().rpartition("\n")[2]
    return f"an end with {code}: {last}"


def main(count: str = "200", subject: str = "", seed: str = "0") -> None:
    """Say of each mutant what became of it, and at the end how many were killed."""
    fates = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        for tests in sorted({tests for files in SUBJECTS.values() for tests in files.values()}):
            if killer := copy.failing(tests):
                sys.exit(f"without any mistake: {killer}")
        for mutant in sample(int(count), int(seed), *([subject] if subject else [])):
            fates.append(copy.fate_of(mutant))
            sys.stdout.write(f"{fates[-1].line}\n")
            sys.stdout.flush()
    killed = sum(bool(fate.killed_by) for fate in fates)
    sys.stdout.write(f"{killed} of {len(fates)} are killed\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
