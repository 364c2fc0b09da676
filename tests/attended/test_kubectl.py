"""kubectl, a real one, against a served cluster: every row of the table comes out as it says."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tests.attended.kubectl_rows import FILES, GROUPS
from tests.attended.serving import serving
from tests.needs import needs

WITHIN_S = 300
"""A fuse for what hangs; no answer depends on it."""


@attrs.frozen
class Kubectl:
    """kubectl in a folder with the files, as the guest of a served cluster."""

    path: str
    folder: Path
    env: dict[str, str]

    def run(self, *words: str) -> tuple[int, str]:
        """Its exit code, and what it has said."""
        done = subprocess.run(
            [self.path, *words], cwd=self.folder, env=self.env, text=True, timeout=WITHIN_S,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        return done.returncode, done.stdout

    @property
    def minor(self) -> int:
        """Its version, as in 1.minor."""
        found = re.search(r"v1\.([0-9]+)\.", self.run("version", "--client")[1])
        assert found is not None
        return int(found[1])


@pytest.fixture(scope="module")
def kubectl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    """One cluster for all groups; ten of its seconds pass in one."""
    path = needs("kubectl")
    folder = tmp_path_factory.mktemp("kubectl")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    with serving(folder / "cluster.yaml", "--speed", "10") as served:
        # What it caches of one server is not for the next one.
        env = {**os.environ, "HOME": str(folder), "KUBECONFIG": served.kubeconfig}
        yield Kubectl(path, folder, env)


@pytest.mark.parametrize("group", GROUPS)
def test_kubectl_is_answered(group: str, kubectl: Kubectl) -> None:
    """Each command in order says what its row says, and ends as it says."""
    minor = kubectl.minor
    wrong = []
    for row in GROUPS[group]:
        if row.since <= minor:
            code, output = kubectl.run(*row.words)
            if code != row.code or not row.fits(output):
                wrong.append(f"kubectl {row.command} → {code}, expected {row.code}\n{output}")
    assert not wrong, "\n".join(wrong)
