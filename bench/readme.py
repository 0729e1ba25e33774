"""Prints the figures of README.md, and of other pages, from the result files that they name.

A page has ``<!-- figures: NAME -->`` before a figure or a table and ``<!-- end -->`` after it. The text between them is one of
`BLOCKS`, generated from the newest results in bench/results. `python -m checks` compares them (checks/figures.py).

    python -m bench.readme                        # print all blocks
    python -m bench.readme --take FOLDER          # copy results of tools/measure_figures.sh to bench/results
    python -m bench.readme --write README.md      # write the blocks into pages
"""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path

from bench.blocks import arrays, gpu_summary, reads, shapes, structures, summary
from bench.blocks.results import MissingResultError, Results

BLOCKS: dict[str, Callable[[Results], str]] = {
    "headline": reads.headline,
    "summary": summary.summary,
    "gpu summary": gpu_summary.gpu_summary,
    "shapes": shapes.shapes,
    "gpu shapes": shapes.gpu_shapes,
    "readers": reads.readers,
    "scans": reads.scans,
    "threads": reads.threads,
    "writers": reads.writers,
    "latency": reads.latency,
    "memory": reads.memory,
    "gpu reads": reads.gpu_reads,
    "small reads": reads.small_reads,
    "gpu streams": reads.gpu_streams,
    "primitives": arrays.primitives,
    "histograms": arrays.histograms,
    "multisplit": arrays.multisplit,
    "sorts": arrays.sorts,
    "hash maps": structures.hash_maps,
    "sorted maps": structures.sorted_maps,
    "paper lsm": structures.paper_lsm,
    "paper slab hash": structures.paper_slab_hash,
    "paper string matching": structures.paper_string_matching,
    "searches": structures.searches,
    "dictionaries": structures.dictionaries,
}
"""Functions that return the lines of a block, by its name."""
TAKEN_GPU = {
    "sort": "sort-called",
    "multisplit": "multisplit-called",
    "primitives": "primitives-called",
    "histogram": "histogram-called",
    "small": "small-reads",
    "read": "gpu-reads",
    "stream": "gpu-streams",
    "shapes_gpu": "shapes-gpu",
    "hash_map": "gpu-hash-map",
    "sorted_map": "gpu-sorted-map",
    "lsm": "paper-lsm",
    "slab_hash": "paper-slab-hash",
    "string_matching": "string-matching",
    "find": "gpu-find",
    "dictionaries": "gpu-dictionaries",
}
"""Names of tools/measure_figures.sh on a GPU, and those of their results."""
TAKEN_CPU = {
    "shapes": "shapes-cpu",
    "readers": "readers",
    "readers_more": "readers-more",
    "write": "writers",
    "stream_cpu": "scans",
    "scaling": "scaling",
    "latency": "latency",
    "memory": "memory",
}
"""Names of tools/measure_figures.sh on a CPU, and those of their results."""
ROOT = Path(__file__).parents[1]
GPU_FOLDER = re.compile(r"NVIDIA (\w+).*")
"""Name of a GPU such as "NVIDIA H100 80GB HBM3", whose results are in the folder h100."""
BLOCK = re.compile(r"<!-- figures: ([^>]*?) -->(.*?)<!-- end -->", re.DOTALL)


def stale(text: str, root: Path, page: Path) -> Iterator[tuple[int, str]]:
    """Yield line and message of each block of a page that differs from the results."""
    for match in BLOCK.finditer(text):
        line, name = text.count("\n", 0, match.start()) + 1, match[1]
        if name not in BLOCKS:
            yield line, f"no such figures: {name}; there are: {', '.join(BLOCKS)}"
            continue
        try:
            wanted = BLOCKS[name](Results(root, page.parent))
        except MissingResultError as error:
            yield line, f"figures {name}: {error}"
            continue
        found, expected = match[2].strip().splitlines(), wanted.splitlines()
        if found != expected:
            pairs = zip_longest(found, expected, fillvalue="")
            here, there = next((a, b) for a, b in pairs if a != b)
            yield line, f"figures {name}: {here!r} is not what the results say: {there!r} (python -m bench.readme --write)"


def written(text: str, root: Path, page: Path) -> str:
    """Return the page with each block generated from the results. A block without results is unchanged."""

    def block(match: re.Match[str]) -> str:
        try:
            made = BLOCKS[match[1]](Results(root, page.parent))
        except MissingResultError as error:
            print(f"{match[1]}: {error}")
            return match[0]
        return f"<!-- figures: {match[1]} -->" + (f"\n\n{made}\n\n" if "\n" in made else made) + "<!-- end -->"

    return BLOCK.sub(block, text)


def take(folder: Path, root: Path) -> None:
    """Copy the results in a folder to bench/results."""
    for name, kept in {**TAKEN_GPU, **TAKEN_CPU}.items():
        measured = folder / f"{name}.json"
        if not measured.is_file():
            print(f"{name}: not in {folder}")
            continue
        facts = Results.facts(measured)
        machine = GPU_FOLDER.sub(r"\1", facts["gpu"]).lower() if name in TAKEN_GPU else f"xeon-{facts['cores']}-cores"
        for suffix in (".json", ".md"):
            target = root / "bench" / "results" / machine / f"{facts['date']}-{kept}{suffix}"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(measured.with_suffix(suffix), target)
            print(target.relative_to(root))


def main() -> None:
    """Take results, write pages, or print blocks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--take", type=Path)
    parser.add_argument("--write", type=Path, nargs="+")
    given = parser.parse_args()
    if given.take:
        take(given.take, ROOT)
    for page in given.write or ():
        page.write_text(written(page.read_text(encoding="utf-8"), ROOT, page.resolve()), encoding="utf-8")
    if not given.take and not given.write:
        for name, made in BLOCKS.items():
            try:
                print(f"<!-- figures: {name} -->\n\n{made(Results(ROOT, ROOT))}\n\n<!-- end -->\n")
            except MissingResultError as error:
                print(f"<!-- figures: {name} -->{error}<!-- end -->\n")


if __name__ == "__main__":
    main()
