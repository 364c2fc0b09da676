"""Doors under other releases: which tests ask the files that import a dependency, and the lowest
releases that pyproject.toml allows.

`python -m tests.house.doors tests` prints those tests, `… lowest` constraints for pip.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TESTED_BY = {
    "attrs": "tests/objects/test_objects.py",
    "click": "tests/cli/test_switches.py",
    "h11": "tests/attended/http/test_connection.py",
    "hypothesis": "tests/doors/test_strategies.py",
    "jinja2": "tests/page/test_page.py",
    "msgspec": "tests/objects/test_objects.py",
    "networkx": "tests/story/test_causality.py",
    "numpy": "tests/actors/framework/test_filters.py",
    "pytest": "tests/doors/test_pytest_plugin.py",
    "sortedcontainers": "tests/store/test_store.py",
    "trio": "tests/turns/test_drivers.py",
    "yaml": "tests/objects/manifests/test_yaml_stream.py tests/races/test_yaml_lines.py",
}
"""By dependency: the tests of what stands at its door."""
_BOUND = re.compile(r"([A-Za-z0-9_.-]+)>=([0-9.]+)")


def tests() -> list[str]:
    """Name each of these files once."""
    return sorted({file for files in TESTED_BY.values() for file in files.split()})


def lowest() -> list[str]:
    """Pin each dependency to the lowest release that pyproject.toml allows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    bounds = [*project["dependencies"], *(bound for extra in extras for bound in extra)]
    found = [_BOUND.fullmatch(bound) for bound in bounds]
    return [f"{match[1]}=={match[2]}" for match in found if match is not None]


if __name__ == "__main__":
    sys.stdout.write("\n".join({"tests": tests, "lowest": lowest}[sys.argv[1]]()) + "\n")
