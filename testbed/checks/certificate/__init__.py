"""Checks a certificate of completeness. It imports nothing of the testbed and trusts no search.

Two turns are in order if one caused the other, if one writes what the other touches, or if time
passed between them. All other turns may swap places: Runs that differ only so are one class, and
the certificate has one Run of each class.

1. Form (`lines`, `certificate`): each line is whole, in its place, and says what such a line says,
   once.
2. Verdict (`verdict`): it follows from the classes, their ends and what broke in them. Each class
   came to rest, within all limits: what comes after a limit is not seen, so a class that ended
   there proves nothing of it.
3. Coherence (`coherence`): each turn was offered and follows its causes; nothing is left to be done
   when a class ends; the same turns lead to the same offer, and a turn with the same past touches
   the same and has the same causes; no class is there twice.
4. Coverage (`coverage`): wherever another Run could branch off, some class begins in just that way:
   a. two turns in order, of which the first did not cause the second, come the other way round;
   b. whatever else is ready at a turn happens in its place;
   c. each fault that could strike does, also at the end; and wherever one struck, a class goes on
      without it through everything that does not follow from it;
   d. each alternative of a pick is taken.

Why that is enough: suppose a Run has no class here. Go along it as far as some class begins in the
same way. Its next turn was offered there, by coherence. In that class this turn comes later behind
another one, was ready and withdrawn, is a fault or picks otherwise; and in each case coverage says
that some class begins so, one turn further. So there is no such Run.

Taken on trust is what single turns touched, what caused them, what was offered, how each class was
judged, and the header; docs/search.md lists it, and `testbed certify --replay` plays it again.

May use: nothing.
In order: lines, classes, certificate, verdict, coherence, coverage, __init__, __main__.
"""

from __future__ import annotations

import sys

from testbed.checks.certificate.certificate import Certificate
from testbed.checks.certificate.coherence import check_coherence
from testbed.checks.certificate.coverage import check_coverage
from testbed.checks.certificate.lines import CertificateRefused, Unreadable
from testbed.checks.certificate.verdict import check_verdict

REFUSED, BAD_FILE = 1, 2


def checked(path: str) -> Certificate:
    """Read it and check all of it; raises CertificateRefused, which says where and why."""
    certificate = Certificate(path)
    check_verdict(certificate)
    check_coherence(certificate)
    certificate.tried = check_coverage(certificate)
    return certificate


def main(path: str) -> int:
    """Print what the certificate at that path proves, or why it proves nothing; returns 0, 1 if it
    proves nothing, or 2 if it is no certificate at all."""
    try:
        certificate = checked(path)
    except CertificateRefused as refused:
        _say(f"{path}: refused: {refused}.\nNext: search again, and certify that.")
        return BAD_FILE if isinstance(refused, Unreadable) else REFUSED
    _say(f"{path}: {certificate.proves}: coherent and closed; {certificate.tried_in_words}.")
    return 0


def _say(text: str) -> None:
    """Print it; what the file says may hold anything, such as what moves a cursor."""
    shown = "".join(c if c.isprintable() or c == "\n" else "�" for c in text)
    sys.stdout.write(
        shown.encode(sys.stdout.encoding or "utf-8", "replace").decode(
            sys.stdout.encoding or "utf-8"
        )
        + "\n"
    )
