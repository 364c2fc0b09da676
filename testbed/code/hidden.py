"""Hidden: tells of a folder that stands in the place of a package of the testbed, or behind one.

`actors` and `scenarios` are names that anybody may give a folder. Python imports the first one on
its path, so a user's own hides ours, or ours theirs; and what is missing then is told as if it did
not exist. This is asked last, when nothing else has found a module, and says which folder it is.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from testbed.errors import PackageHidden

OURS = ("actors", "scenarios", "testbed")
"""The packages that are installed together."""
HOME = Path(__file__).resolve().parent.parent.parent
"""The folder that they stand in."""


class HiddenFinder:
    """The last finder on `sys.meta_path`: it finds nothing, and says what hides what is wanted."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        """Raise PackageHidden if that module is in the package that another one hides."""
        top, *inner = fullname.split(".")
        if top not in OURS or not inner:
            return
        found = {Path(each).resolve() for each in getattr(sys.modules.get(top), "__path__", ())}
        if not found:
            return
        if HOME / top not in found:
            if _has(HOME / top, inner):
                raise _hidden_by(min(found), top, fullname)
            return
        for folder in map(Path, sys.path):
            if (folder / top).resolve() not in found and _has(folder / top, inner):
                raise PackageHidden(
                    f"the testbed's own package {top!r} hides {(folder / top).resolve()}, so "
                    f"{fullname} is not found.\nNext: rename that folder."
                )


def check_shown(package: ModuleType) -> None:
    """Raise PackageHidden unless that is ours, though it has the name of one of ours."""
    found = {Path(each).resolve() for each in package.__path__}
    if HOME / package.__name__ not in found:
        raise _hidden_by(min(found), package.__name__)


def tell_of_hidden() -> None:
    """Ask for it whenever an import has found nothing; once is enough."""
    if not any(isinstance(each, HiddenFinder) for each in sys.meta_path):
        sys.meta_path.append(HiddenFinder())


def _hidden_by(folder: Path, package: str, wanted: str = "") -> PackageHidden:
    lost = f", so {wanted} is not found" if wanted else ""
    return PackageHidden(
        f"{folder} hides the testbed's own package {package!r}{lost}.\n"
        "Next: rename that folder, or run from another one."
    )


def _has(package: Path, inner: Sequence[str]) -> bool:
    """Whether that module stands in the package."""
    place = package.joinpath(*inner)
    return place.with_name(f"{place.name}.py").is_file() or (place / "__init__.py").is_file()
