"""A multisplit on a GPU: which passes it takes, and what they move."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from headrace.arrange.buckets import Edges
from headrace.arrange.functions import Rule, key_type
from headrace.arrange.multisplit import strays_error
from headrace.arrange.split_gpu import DIGIT_BITS, Column, Pass, Splitter, bits_pass
from headrace.core.arrays import Array
from headrace.core.context import Context
from headrace.core.device_array import DeviceArray
from headrace.core.device_memory import Budget, DeviceBuffer
from headrace.core.errors import OptionError
from headrace.core.gpu import checked, driver, gpu
from headrace.core.kernels import kernel
from headrace.core.placement import empty_like, in_stream_of

_CELLS = 14_500
_LABEL_THREADS = 256
_BLOCKS_OF_MULTIPROCESSOR = 16


def split_on_gpu(
    arrays: Sequence[Array], rule: Rule, strategy: str | None, context: Context, budget: Budget
) -> tuple[list[Array], Array]:
    """Results for the keys and each array of values, and the offsets."""
    source = arrays[0]
    results = [empty_like(array, array.length, budget=budget) for array in arrays]
    offsets = empty_like(source, rule.count + 1, "<i8", budget)
    card = gpu(source.device)
    splitter = Splitter(card, source.stream, source.length, budget)
    with in_stream_of(source, *arrays[1:]):
        card.make_current()
        if source.length == 0:
            stream = card.stream if source.stream is None else source.stream
            checked(driver().cuMemsetD8Async(offsets.address, 0, offsets.nbytes, stream))
            return results, offsets
        columns = [Column(a.address, b.address, a.width) for a, b in zip(arrays, results, strict=True)]
        direct = _direct(source, rule)
        if direct is not None and strategy in {None, "block", "look_back"}:
            strays = _by_keys(splitter, direct, rule, columns, offsets, strategy)
        elif strategy in {None, "reduced_bit", "recursive"}:
            strays = _by_labels(splitter, source, rule, columns, (offsets, strategy, context))
        else:
            raise OptionError(f"strategy {strategy!r} is for keys of 4 and 8 bytes and up to 256 buckets")
        if not rule.is_total:
            found = int(DeviceArray(strays, "<u8", 1, strays.nbytes // 8 - 1).to_numpy(counted=context.crossings)[0])
            if found:
                raise strays_error(rule, found)
    return results, offsets


def _direct(source: Array, rule: Rule) -> list[Pass] | None:
    """The passes over keys as they are; None where labels have to be made."""
    key = key_type(source.typestr)
    what = rule.description
    if rule.name == "BitsOf" and source.width >= 4 and isinstance(what, bytes):
        low, mask = struct.unpack("<II", what)
        high = low + mask.bit_length()
        return [bits_pass(f"u{8 * source.width}", at, min(high, at + DIGIT_BITS)) for at in range(low, high, DIGIT_BITS)]
    if rule.count > 1 << DIGIT_BITS:
        return None
    tail = struct.pack("<2I", rule.count - 1, 0)
    if rule.name == "AnyOf" and key in {"u32", "u64"} and isinstance(what, bytes):
        return [Pass(key, "AnyOf", what + tail, rule.count, is_total=rule.is_total)]
    if rule.name == "Computed":
        return [Pass(key, "Computed", struct.pack("<2I", rule.count, 0) + tail, rule.count, _text(rule), False)]
    return None


def _text(rule: Rule) -> str:
    text: str = rule.description.as_c()  # type: ignore[union-attr]
    return text


def _by_keys(
    splitter: Splitter, passes: list[Pass], rule: Rule, columns: list[Column], offsets: Array, strategy: str | None
) -> DeviceBuffer:
    """Returns memory whose last word is the number of keys in no bucket."""
    looks_back = strategy == "look_back"
    if looks_back and not all(splitter.can_look_back(by) for by in passes):
        raise OptionError("strategy 'look_back' is for bits() of up to 2**30 keys of 4 bytes")
    starts, totals = _run_all(splitter, passes, columns, looks_back=looks_back)
    if len(passes) == 1:
        checked(driver().cuMemcpyDtoDAsync(offsets.address, starts.address, offsets.nbytes, starts.stream))
    else:
        digit = rule.description + struct.pack("<2I", rule.count - 1, 0)  # type: ignore[operator]
        _find_buckets(splitter, (passes[0].key, "BitsOf", digit), columns[0].target, rule.count, offsets.address)
    return totals


def _run_all(
    splitter: Splitter, passes: list[Pass], columns: list[Column], *, looks_back: bool = False
) -> tuple[DeviceBuffer, DeviceBuffer]:
    """All passes, the first of `columns` being their keys: to and fro, so that the last one puts items to their targets."""
    run = splitter.run_by_look_back if looks_back else splitter.run
    targets = [column.target for column in columns]
    rooms = [splitter.room(splitter.count * column.width) for column in columns if len(passes) > 1]
    between = [room.address for room in rooms]
    at = columns
    for left in reversed(range(len(passes))):
        to = targets if left % 2 == 0 else between
        moved = [Column(column.source, target, column.width) for column, target in zip(at, to, strict=True)]
        starts, totals = run(passes[len(passes) - 1 - left], moved[0], moved[1:])
        at = [Column(column.target, 0, column.width) for column in moved]
    return starts, totals


def _by_labels(
    splitter: Splitter, source: Array, rule: Rule, columns: list[Column], how: tuple[Array, str | None, Context]
) -> DeviceBuffer:
    """Labels are made and sorted, digit by digit; keys and values go with them."""
    offsets, strategy, context = how
    each = 1 if strategy == "recursive" else DIGIT_BITS
    bits = max(1, (rule.count - 1).bit_length())
    width = 4 if strategy == "recursive" or bits > 16 else 2 if bits > DIGIT_BITS else 1
    labels = splitter.room(splitter.count * width)
    strays = splitter.zeros(8)
    digit, held = _digit(splitter, source, rule, context)
    _label(splitter, source, (rule, digit), labels, (width, strays))
    passes = [bits_pass(f"u{8 * width}", at, min(bits, at + each)) for at in range(0, bits, each)]
    ordered = splitter.room(splitter.count * width)
    starts, _ = _run_all(splitter, passes, [Column(labels.address, ordered.address, width), *columns])
    del held  # in the stream's order
    if len(passes) == 1:
        checked(driver().cuMemcpyDtoDAsync(offsets.address, starts.address, offsets.nbytes, starts.stream))
    else:
        by_label = struct.pack("<Q4I", 0, 0, 0, rule.count, 0) + struct.pack("<2I", rule.count - 1, 0)
        _find_buckets(splitter, (f"u{8 * width}", "AnyOf", by_label), ordered.address, rule.count, offsets.address)
    return strays


def _digit(splitter: Splitter, source: Array, rule: Rule, context: Context) -> tuple[bytes, list[DeviceBuffer]]:
    """A ``Digit``, and what must be held as long as it is used."""
    what, tail = rule.description, struct.pack("<2I", rule.count - 1, 0)
    if isinstance(what, bytes):
        return what + tail, []
    if not isinstance(what, Edges):
        return struct.pack("<2I", rule.count, 0) + tail, []
    cells = what.cells(_CELLS)
    edges = DeviceArray.from_host(what.wide, splitter.card, stream=source.stream, counted=context.crossings, budget=splitter.budget)
    words = splitter.room((_CELLS + 1) * 4)
    defines: dict[str, int | str] = {"HR_KEY": key_type(source.typestr), "HR_THREADS": 1024, "HR_ROWS": 2 if source.width == 1 else 4}
    prepare = kernel("arrange/histogram_between.cu", "histogram_cells", f"{len(cells)}sPP", defines, splitter.card)
    prepare.launch(_CELLS // 1024 + 1, 1024, (cells, edges.address, words.address), stream=splitter.stream)
    return cells + struct.pack("<2Q", words.address, edges.address) + tail, [edges.buffer, words]


def _label(
    splitter: Splitter, source: Array, by: tuple[Rule, bytes], labels: DeviceBuffer, how: tuple[int, DeviceBuffer]
) -> None:
    rule, digit = by
    width, strays = how
    defines: dict[str, int | str] = {"HR_KEY": key_type(source.typestr), "HR_RULE": rule.name, "HR_THREADS": _LABEL_THREADS}
    if rule.name == "Computed":
        defines["HR_BUCKET"] = _text(rule)
    found = kernel("arrange/label.cu", "label", f"PQ{len(digit)}sPIP", defines, splitter.card)
    args: tuple[Any, ...] = (source.address, splitter.count, digit, labels.address, width, strays.address)
    found.launch(_blocks(splitter, splitter.count), _LABEL_THREADS, args, stream=splitter.stream)


def _find_buckets(splitter: Splitter, by: tuple[str, str, bytes], keys: int, count: int, offsets: int) -> None:
    key, rule, digit = by
    defines: dict[str, int | str] = {"HR_KEY": key, "HR_RULE": rule, "HR_THREADS": _LABEL_THREADS}
    found = kernel("arrange/label.cu", "find_buckets", f"PQ{len(digit)}sIP", defines, splitter.card)
    found.launch(
        _blocks(splitter, count + 1), _LABEL_THREADS, (keys, splitter.count, digit, count, offsets), stream=splitter.stream
    )


def _blocks(splitter: Splitter, items: int) -> int:
    return min(-(-items // _LABEL_THREADS), splitter.card.multiprocessors * _BLOCKS_OF_MULTIPROCESSOR)
