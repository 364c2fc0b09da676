"""Collecting the tests costs little: what is compiled once is kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.shared.scratch import ROOT


def test_what_is_compiled_is_kept_where_no_bytecode_may_be_written(tmp_path: Path) -> None:
    """In pytest's cache, and nowhere beside the source; the next collection finds it there."""
    words = ["-m", "pytest", "--collect-only", "-q", "-n0", "-o", f"cache_dir={tmp_path}"]
    subprocess.run(
        [sys.executable, *words, "tests/words/test_words.py"],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
        capture_output=True,
    )
    kept = [path.name for path in (tmp_path / "d" / "compiled").rglob("test_words.*.pyc")]
    assert len(kept) == 1
    assert "-pytest-" in kept[0]
