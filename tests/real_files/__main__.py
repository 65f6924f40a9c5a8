"""Plays every real file, and prints what became of each collection.

``python -m tests.real_files [NAME ...]`` plays the collections that are named, or all; with
``--jobs`` so many files at once. It exits with 1 if anything was not as it should be.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path

from tests.real_files import places
from tests.real_files.play import Outcome, play_copy, play_imports

_AT_ONCE = 20  # files that are imported into one application


def main() -> int:
    """Play the collections, and print the table."""
    names = [collection.name for collection in places.COLLECTIONS]
    parser = argparse.ArgumentParser(prog="python -m tests.real_files", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--refused", action="store_true", help="print what was refused, too")
    chosen = parser.parse_args()
    unknown = set(chosen.names) - set(names)
    if unknown:
        parser.error(f"there is no collection {', '.join(sorted(unknown))}")
    rows = []
    passed = failed = 0
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for collection in places.COLLECTIONS:
            if chosen.names and collection.name not in chosen.names:
                continue
            outcomes = []
            for some in pool.map(_played, *_arguments(collection)):
                outcomes += some
            for outcome in outcomes:
                _print(outcome, refused=chosen.refused)
            wrong = sum(bool(outcome.wrong) for outcome in outcomes)
            passed += len(outcomes) - wrong
            failed += wrong
            rows.append((collection, outcomes))
    print(f"\n{'collection':22} {'host':8} files  calls  refused  wrong")
    for collection, outcomes in rows:
        calls = sum(outcome.calls for outcome in outcomes)
        refused = sum(len(outcome.refused) for outcome in outcomes)
        wrong = sum(len(outcome.wrong) for outcome in outcomes)
        head = f"{collection.name:22} {collection.host:8} {len(outcomes):5}"
        print(f"{head} {calls:6} {refused:8} {wrong:6}")
        if not outcomes:
            print("    not here: the files or the application are missing")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def _arguments(collection: places.Collection) -> tuple[list[str], list[bool], list[list[Path]]]:
    size = _AT_ONCE if collection.is_imported else 1
    files = collection.files()
    groups = []
    while group := list(islice(files, size)):
        groups.append(group)
    return (
        [collection.host] * len(groups),
        [collection.is_imported] * len(groups),
        groups,
    )


def _played(host: str, is_imported: bool, files: list[Path]) -> list[Outcome]:
    if is_imported:
        return play_imports(host, files)
    return [play_copy(host, file) for file in files]


def _print(outcome: Outcome, *, refused: bool) -> None:
    if outcome.wrong or refused:
        counts = f"{outcome.calls} calls, {len(outcome.refused)} refused"
        print(f"{outcome.host} {outcome.file}: {counts}", flush=True)
    for sentence in outcome.wrong:
        print(f"    WRONG {sentence}")
    if refused:
        for sentence in outcome.refused:
            print(f"    refused {sentence}")


if __name__ == "__main__":
    sys.exit(main())
