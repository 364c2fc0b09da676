"""Golden stories: what was told before, as text files that people read and can explain."""

from __future__ import annotations

from pathlib import Path

import attrs


@attrs.frozen
class Stories:
    """The folder they are in."""

    folder: Path
    rewrites: bool
    """Whether each is written anew instead of being compared."""

    def check(self, name: str, told: str) -> None:
        """What is told now is, to the letter, what was told before."""
        file = self.folder / f"{name}.txt"
        text = told.rstrip("\n") + "\n"
        if self.rewrites:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        before = file.read_text(encoding="utf-8") if file.exists() else ""
        assert text == before, (
            f"{file.name} is not what is told now. If every changed line is meant: "
            f"pytest --rewrite-stories, then read the diff of {self.folder}"
        )
