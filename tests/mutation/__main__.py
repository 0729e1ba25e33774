"""`python -m tests.mutation`: plant all errors, build once, and run the near tests of each; exit code 1 if one is not found."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from fnmatch import fnmatch
from pathlib import Path

from tests.mutation.judge import Judge, Place
from tests.mutation.mutants import ROOT, Mutant, read_mutants
from tests.mutation.plant import forget, plant
from tests.mutation.table import RESULTS, read_table, write_table


def main() -> int:
    """Print a line for each mutant as it is judged, then a summary."""
    given = _arguments()
    mutants = read_mutants()
    chosen = [one for one in mutants if any(fnmatch(one.name, p) or fnmatch(one.file, p) for p in given.only)]
    tree = given.build / "tree"
    if given.fresh:
        forget(given.build)
    plant(mutants, ROOT, tree)
    native = tree / "build" / "dev"
    place = Place(tree, native / "tests" / "native", given.build / "cache")
    _build(native, tree, chosen)
    if given.build_only:
        return 0
    verdicts = _judged(chosen, place, given.jobs)
    if given.write:
        write_table(RESULTS, mutants, {**read_table(RESULTS), **verdicts})
    survivors = [name for name, found_by in verdicts.items() if found_by is None]
    explained = {one.name for one in mutants if one.survives}
    undecided = len(chosen) - len(verdicts)
    print(f"{len(verdicts) - len(survivors)} of {len(verdicts)} found; not found: {' '.join(sorted(survivors)) or 'none'}")
    if undecided:
        print(f"{undecided} undecided: their tests fail without a mutant")
    return 1 if undecided or set(survivors) - explained else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("only", nargs="*", default=["*"], help="patterns of names or files (default: all)")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "mutation", help="folder of the planted tree")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at the same time")
    parser.add_argument("--build-only", action="store_true", help="plant and build, and run nothing")
    parser.add_argument("--fresh", action="store_true", help="build everything anew")
    parser.add_argument("--write", action="store_true", help=f"merge the verdicts into {RESULTS.relative_to(ROOT)}")
    return parser.parse_args()


def _build(native: Path, tree: Path, mutants: list[Mutant]) -> None:
    """The extension into the tree, and the native tests that are asked for."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    if not (native / "build.ninja").exists():
        options = ["-DHEADRACE_NATIVE_TESTS=ON", f"-DPython_EXECUTABLE={sys.executable}"]
        subprocess.run(["cmake", "-G", "Ninja", "-S", str(tree), "-B", str(native), *options], env=environment, check=True)
    programs = {test.removeprefix("native:") for one in mutants for test in one.near if test.startswith("native:")}
    targets = ["_native", *sorted(programs)]
    subprocess.run(["cmake", "--build", str(native), "--target", *targets], env=environment, check=True)
    for library in native.glob("_native*.so"):
        copy = tree / "src" / "headrace" / library.name
        if not copy.exists() or copy.read_bytes() != library.read_bytes():
            made = copy.with_suffix(".new")
            made.write_bytes(library.read_bytes())
            made.replace(copy)  # a process that has the old one goes on with it


def _judged(mutants: list[Mutant], place: Place, jobs: int) -> dict[str, str | None]:
    """The name of each mutant to the test that found it."""
    judge, verdicts = Judge(place), {}
    with ThreadPoolExecutor(jobs) as workers:
        running = {workers.submit(judge.of, one): one for one in mutants}
        for number, done in enumerate(as_completed(running), 1):
            one = running[done]
            if error := done.exception():
                print(f"{number:3} of {len(mutants)}  {one.name}: UNDECIDED, {error}", flush=True)
                continue
            verdict = done.result()
            verdicts[one.name] = verdict.found_by
            said = f"found by {verdict.found_by}" if verdict.killed else "NOT FOUND"
            print(f"{number:3} of {len(mutants)}  {one.name}: {said} ({verdict.seconds:.1f} s)", flush=True)
    return verdicts


if __name__ == "__main__":
    sys.exit(main())
