"""Builds the table of README.md that has one row for each part of headrace on a GPU."""

from __future__ import annotations

from statistics import median

from bench.blocks.results import Results, ratio, table, three


def gpu_summary(results: Results) -> str:
    """Return the table."""
    read, quoted = (results.row("gpu-reads", case=case) for case in ("int_444", "quoted"))
    sort = results.row("sort-called", type="u32", n=1 << 27, data="uniform")
    keys = 1 << 26
    build = results.row("gpu-hash-map", what="bulk build, sized", keys=keys)
    find = results.row("gpu-hash-map", what="find, present", keys=keys)
    sorting, searching = (
        results.row("gpu-hash-map", what=what) for what in ("torch.sort of keys and values", "torch.searchsorted, present")
    )
    insert, search = (
        results.row("gpu-sorted-map", map="levels", what=what) for what in ("insert batches of 2^20", "find, present")
    )
    one = results.row("gpu-find", text="26", patterns=1, length=16)
    many = results.row("gpu-find", patterns=10_000, length=8)
    merge = results.row("gpu-dictionaries", what="merge", width=8)
    shapes = sorted(results.rows("shapes-gpu"), key=lambda row: float(row["gbs"]))
    rows = [
        ["`read_csv`, three columns of integers", f"{three(read['gbs'])} GB/s", ""],
        ["`read_csv`, quoted text with line breaks", f"{three(quoted['gbs'])} GB/s", ""],
        [f"`read_csv`, median of {len(shapes)} shapes of data", f"{three(median(row['gbs'] for row in shapes))} GB/s", ""],
        [f"`read_csv`, worst shape: {shapes[0]['shape']}", f"{three(shapes[0]['gbs'])} GB/s", ""],
        ["`sort`, 2^27 uint32", f"{three(sort['call'])} G keys/s", f"{ratio(sort['call'], sort['cub_call'])} times CUB"],
        [
            "`HashMap`, bulk build of 2^26 pairs",
            f"{three(build['rate'])} G pairs/s",
            f"{ratio(build['rate'], sorting['rate'])} times `torch.sort`",
        ],
        [
            "`HashMap.find`, 2^26 keys",
            f"{three(find['rate'])} G keys/s",
            f"{ratio(find['rate'], searching['rate'])} times `torch.searchsorted`",
        ],
        [
            "`SortedMap`, batches of 2^20 items",
            f"{three(insert['rate'] / 1e9)} G items/s",
            f"{ratio(insert['rate'], insert['rebuilt'])} times a sort for each batch",
        ],
        [
            "`SortedMap.find`, full levels",
            f"{three(search['rate'] / 1e9)} G keys/s",
            f"{ratio(search['rate'], search['peer'])} times `torch.searchsorted`",
        ],
        ["`count`, one pattern in 4 GiB", f"{three(one['count'])} GB/s", f"{one['count'] / one['limit']:.0%} of a read"],
        ["`count_any`, 10,000 patterns of 8 bytes", f"{three(many['count'])} GB/s", ""],
        ["`Store`, merge of two dictionaries", f"{three(merge['rate'] / 1e9)} G values/s", f"{merge['part']:.0%} of a copy"],
    ]
    names = ("gpu-reads", "shapes-gpu", "sort-called", "gpu-hash-map", "gpu-sorted-map", "gpu-find", "gpu-dictionaries")
    return f"{table(['in the memory of one GPU', 'headrace', 'beside'], rows)}\n\n{results.source(*names)}"
