"""Measures variants of the scan, reduce and select kernels on a GPU: each answer is checked, figures are medians of events.

Needs nvcc, PyTorch and a GPU; the package need not be installed. Takes about two minutes. Each line has the function, the
variant, 10^9 items a second, and a share of the limit. The limit moves the same bytes at the rate of a copy or a read. CUB's
figures come from cub_primitives.cu in the same run, each the better of its kernels for a 32-bit and a 64-bit item count.
The program gpu_called.py measures calls of the public functions.

    python -m bench.primitives.gpu [--out table.txt]
"""

from __future__ import annotations

import ctypes
import itertools
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import torch

from bench.gpu_timing import Cub, median_ms
from bench.tables import Page

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "src" / "headrace"
WORK = Path(tempfile.mkdtemp())
N = 1 << 28
cuda = ctypes.CDLL("libcuda.so.1")
page = Page()
say = page.say


def checked(code: int) -> None:
    if code:
        name = ctypes.c_char_p()
        cuda.cuGetErrorName(code, ctypes.byref(name))
        raise RuntimeError(name.value)


def compile_all(wanted: list[tuple[str, dict[str, object]]]) -> dict[str, bytes]:
    def build(task: tuple[str, dict[str, object]]) -> tuple[str, bytes]:
        file, defines = task
        cubin = WORK / (name_of(file, defines).replace("/", "_") + ".cubin")
        flags = [f"-D{key}={value}" for key, value in defines.items()]
        subprocess.run(
            ["nvcc", "-std=c++20", "--fmad=false", "-arch=sm_90", "-cubin", f"-I{SOURCES}", *flags, "-o", cubin, SOURCES / file],
            check=True,
        )
        return name_of(file, defines), cubin.read_bytes()

    with ThreadPoolExecutor(16) as pool:
        return dict(pool.map(build, wanted))


def name_of(file: str, defines: dict[str, object]) -> str:
    return file + ",".join(f"{key}={value}" for key, value in defines.items())


class Kernel:
    def __init__(self, cubin: bytes, name: str) -> None:
        self.module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        checked(cuda.cuModuleLoadData(ctypes.byref(self.module), cubin))
        checked(cuda.cuModuleGetFunction(ctypes.byref(self.function), self.module, name.encode()))

    def __call__(self, grid: tuple[int, int], block: int, args: list[bytes | torch.Tensor], shared: int = 0) -> None:
        if shared > 48 << 10:
            checked(cuda.cuFuncSetAttribute(self.function, 8, shared))
        words = [struct.pack("<Q", a.data_ptr()) if isinstance(a, torch.Tensor) else a for a in args]
        values = [ctypes.create_string_buffer(word, len(word)) for word in words]
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        checked(cuda.cuLaunchKernel(self.function, grid[0], grid[1], 1, block, 1, 1, shared, None, pointers, None))


def in_epochs(
    launch: Callable[..., None], before: list[bytes | torch.Tensor], after: list[bytes | torch.Tensor], shared: int
) -> Callable[[], None]:
    """Return a function that launches a kernel with the arguments before the epoch, the next epoch, and those after it."""
    epochs = itertools.count(1)
    return lambda: launch([*before, u32(next(epochs)), *after], shared)


def i64(x: int) -> bytes:
    return struct.pack("<q", x)


def u32(x: int) -> bytes:
    return struct.pack("<I", x)


def uniform(count: int = N, seed: int = 1) -> torch.Tensor:
    generator = torch.Generator("cuda").manual_seed(seed)
    return torch.randint(-(2**31), 2**31, (count,), dtype=torch.int32, device="cuda", generator=generator)


COPY = """
extern "C" __global__ void __launch_bounds__(256) copy_all(const uint4* a, uint4* b) {
  size_t i = (size_t)blockIdx.x * 1024 + threadIdx.x; uint4 v[4];
  for (int k = 0; k < 4; ++k) v[k] = __ldcs(a + i + k * 256);
  for (int k = 0; k < 4; ++k) __stcs(b + i + k * 256, v[k]); }
extern "C" __global__ void __launch_bounds__(256) read_all(const uint4* a, unsigned* b) {
  size_t i = (size_t)blockIdx.x * 1024 + threadIdx.x; unsigned s = 0; uint4 v[4];
  for (int k = 0; k < 4; ++k) v[k] = __ldcs(a + i + k * 256);
  for (int k = 0; k < 4; ++k) s ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
  if (s == 0x12345678) *b = s; }
"""


def limits() -> tuple[float, float]:
    """Return the bytes per second of a copy (read and written) and of a read."""
    (WORK / "copy.cu").write_text(COPY)
    subprocess.run(["nvcc", "-arch=sm_90", "-cubin", "-o", WORK / "copy.cubin", WORK / "copy.cu"], check=True)
    cubin = (WORK / "copy.cubin").read_bytes()
    copy, read = Kernel(cubin, "copy_all"), Kernel(cubin, "read_all")
    a, b = uniform(), torch.empty(N, dtype=torch.int32, device="cuda")
    times = [median_ms(lambda: copy((N // 4096, 1), 256, [a, b])), median_ms(lambda: b.copy_(a))]
    read_ms = median_ms(lambda: read((N // 4096, 1), 256, [a, b]))
    say(f"copy of 1 GiB: own kernel {2 * N * 4 / times[0] / 1e6:.0f} GB/s, PyTorch {2 * N * 4 / times[1] / 1e6:.0f} GB/s; "
        f"read {N * 4 / read_ms / 1e6:.0f} GB/s")  # fmt: skip
    return 2 * N * 4 / min(times) * 1e3, N * 4 / read_ms * 1e3


SCANS = [(192, 9, 8, 6, 5), (256, 7, 8, 4, 5), (384, 5, 7, 6, 5), (128, 9, 6, 4, 9)]
SELECTS = [
    (256, 3, 4, 2, 13, 4, 3),
    (320, 3, 4, 3, 9, 8, 2),
    (256, 3, 4, 2, 9, 16, 2),
    (640, 3, 4, 4, 5, 8, 1),
    (768, 3, 3, 6, 5, 8, 1),
    (768, 1, 6, 4, 5, 8, 1),
]
FLOAT_SUMS = [(256, 16), (512, 16), (256, 8)]
OTHER_SCANS = [("Sum", "u64"), ("Compose", "u32"), ("Max", "i32")]
REDUCES = [(t, r) for t in (256, 512) for r in (2, 4, 8)]


def scans(cubins: dict[str, bytes], limit: float, sms: int) -> None:
    items = uniform()
    wide = torch.cumsum(items, 0, dtype=torch.int64)
    expected = wide.to(torch.int32)
    del wide
    memory = torch.zeros(1 << 20, dtype=torch.int64, device="cuda")
    for (operator, item), shape in itertools.product([("Sum", "u32"), *OTHER_SCANS], SCANS):
        threads, rows, stages, reducers, look = shape
        size = 8 if item == "u64" or operator == "Compose" else 4
        count = N * 4 // size
        tiles = -(-count * size // (threads * rows * 16))
        out = torch.full_like(items, -1)
        kernel = Kernel(cubins[name_of("primitives/scan.cu", scan_defines(operator, item, *shape))], "scan")
        grid, ring = (min(tiles, sms * (2 if look > 5 else 1)), 1), stages * threads * rows * 16
        before, after = [items, out, i64(count), memory.zero_()], [u32(0)]
        ms = median_ms(in_epochs(partial(kernel, grid, threads + 32 * (reducers + 2)), before, after, ring))
        if operator == "Sum" and size == 4:
            right = bool((out == expected).all())
        elif operator == "Sum":
            right = bool((out.view(torch.int64) == torch.cumsum(items.view(torch.int64), 0)).all())
        elif operator == "Max":
            right = bool((out == torch.cummax(items, 0).values).all())
        else:
            right = affine_right(items[: 1 << 17], out[: 1 << 17])
        gb = 2 * count * size / ms * 1e3
        say(f"scan {operator:7} {item} {threads:4} x {rows} x {stages}, {reducers} reducers: {count / ms / 1e6:7.1f} G/s "
            f"{gb / 1e9:6.0f} GB/s {gb / limit:6.1%} right {right}")  # fmt: skip


def affine_right(items: torch.Tensor, out: torch.Tensor) -> bool:
    pairs, result = items.cpu().numpy().view("u4").reshape(-1, 2).tolist(), out.cpu().numpy().view("u4").reshape(-1, 2)
    scale, offset = 1, 0
    for i, (a, b) in enumerate(pairs):
        scale, offset = a * scale % 2**32, (a * offset + b) % 2**32
        if (result[i, 0], result[i, 1]) != (scale, offset):
            return False
    return True


def scan_defines(operator: str, item: str, *shape: int) -> dict[str, object]:
    names = ("HR_THREADS", "HR_ROWS", "HR_STAGES", "HR_REDUCERS", "HR_LOOK")
    return {"HR_OPERATOR": operator, "HR_ITEM": item, **dict(zip(names, shape, strict=False))}


def select_defines(*shape: int) -> dict[str, object]:
    names = ("HR_THREADS", "HR_ROWS", "HR_STAGES", "HR_COUNTERS", "HR_LOOK", "HR_BATCH", "HR_BLOCKS")
    return {"HR_WIDTH": 4, **dict(zip(names, shape, strict=True))}


def reduces(cubins: dict[str, bytes], limit: float, sms: int) -> None:
    items = uniform()
    expected = {("Sum", "u32"): int(items.sum(dtype=torch.int64)) % 2**32, ("Max", "i32"): int(items.max()) % 2**32}
    floats = torch.rand(N, device="cuda")
    for operator, item in [("Sum", "u32"), ("Max", "i32"), ("Min", "float"), ("Compose", "u32")]:
        data = floats if item == "float" else items
        size = 8 if operator == "Compose" else 4
        count, found, same = N * 4 // size, [], None
        for (threads, rows), per_sm in itertools.product(REDUCES, (4, 8, 16, 32, 64)):
            kernel = Kernel(cubins[name_of("primitives/reduce.cu", scan_defines(operator, item, threads, rows))], "reduce")
            blocks = sms * per_sm
            parts = torch.empty(blocks, dtype=torch.int64, device="cuda")
            finished, result = torch.zeros(1, dtype=torch.int32, device="cuda"), torch.zeros(2, dtype=torch.int32, device="cuda")
            ms = median_ms(partial(kernel, (blocks, 1), threads, [data, i64(count), parts, finished, result]))
            if operator == "Compose":
                same = same or result.tolist()
                right = result.tolist() == same
            elif item == "float":
                right = float(result.view(torch.float32)[0]) == float(floats.min())
            else:
                right = int(result[0]) % 2**32 == expected[operator, item]
            found.append((ms, threads, rows, per_sm, right))
        for ms, threads, rows, per_sm, right in sorted(found)[:4]:
            gb = count * size / ms * 1e3
            say(f"reduce {operator:7} {item} {threads} x {rows}, {per_sm:2} blocks an SM: {count / ms / 1e6:7.1f} G/s "
                f"{gb / 1e9:6.0f} GB/s {gb / limit:6.1%} right {right}, all right {all(f[-1] for f in found)}")  # fmt: skip


def float_sums(cubins: dict[str, bytes], limit: float) -> None:
    for item, dtype in (("float", torch.float32), ("double", torch.float64)):
        items = torch.randn(N * 4 // dtype.itemsize, dtype=dtype, device="cuda")
        expected, firsts = sum_in_order(items), -(-len(items) // 4096)
        pieces, ended = (
            torch.empty(firsts + 4096, dtype=dtype, device="cuda"),
            torch.zeros(4097, dtype=torch.int32, device="cuda"),
        )
        for threads, rows in FLOAT_SUMS:
            result = torch.zeros(1, dtype=dtype, device="cuda")
            defines: dict[str, object] = {"HR_ITEM": item, "HR_THREADS": threads, "HR_ROWS": rows}
            kernel = Kernel(cubins[name_of("primitives/float_sum.cu", defines)], "float_sum")
            args = [items, i64(len(items)), pieces, ended, result]
            ms = median_ms(partial(kernel, (-(-firsts * 32 // threads), 1), threads, args))
            gb = N * 4 / ms * 1e3
            say(f"sum of {item:6} {threads} x {rows:2}: {len(items) / ms / 1e6:7.1f} G/s {gb / 1e9:6.0f} GB/s {gb / limit:6.1%} "
                f"right {torch.equal(result, expected)}")  # fmt: skip
        ms = median_ms(partial(torch.sum, items))
        say(f"sum of {item:6} by PyTorch: {len(items) / ms / 1e6:7.1f} G/s {N * 4 / ms / 1e6:6.0f} GB/s")


def sum_in_order(items: torch.Tensor) -> torch.Tensor:
    """Return the sum in the order of float_sum.hpp, for a multiple of 2^24 items, by PyTorch additions of single items."""
    while len(items) > 1:
        whole = torch.full((-(-len(items) // 4096) * 4096,), -0.0, dtype=items.dtype, device=items.device)
        whole[: len(items)] = items
        rows = whole.view(-1, 32, 128)
        lanes = rows[:, 0].clone()
        for row in range(1, 32):
            lanes += rows[:, row]
        while lanes.shape[1] > 1:
            half = lanes.shape[1] // 2
            lanes = lanes[:, :half] + lanes[:, half:]
        items = lanes[:, 0]
    return items


def selects(cubins: dict[str, bytes], limit: float, sms: int) -> None:
    items = uniform()
    memory = torch.zeros(1 << 20, dtype=torch.int64, device="cuda")
    for share in (0.001, 0.01, 0.1, 0.5, 0.99):
        flags = (torch.rand(N, device="cuda") < share).to(torch.uint8)
        expected = items[flags.bool()]
        touched = float(flags.view(-1, 16).any(1).float().mean())
        floor = N * (1 + 4 * touched) + 4 * len(expected)
        most = limit * N / floor / 1e9
        say(f"select {share} of u32: {floor / N:.2f} bytes an item in sectors of 64 bytes, so at most {most:.0f} G/s")
        for shape in SELECTS:
            threads, rows, stages, counters, _, batch, per_sm = shape
            kernel = Kernel(cubins[name_of("primitives/select.cu", select_defines(*shape))], "select_items")
            tile = threads * rows * 16
            out, selected = torch.empty_like(items), torch.zeros(1, dtype=torch.int64, device="cuda")
            grid, block = (min(-(-N // tile), sms * per_sm), 1), threads + 32 * (counters + 2)
            before, after = [items, flags, out, i64(N), memory.zero_()], [selected]
            ms = median_ms(in_epochs(partial(kernel, grid, block), before, after, (stages + 2) * tile))
            right = int(selected) == len(expected) and bool((out[: len(expected)] == expected).all())
            say(f"select {share:5} of u32 {threads:3} x {rows} x {stages}, {counters} counters, batch {batch:2}, {per_sm} an SM: "
                f"{N / ms / 1e6:6.1f} G/s {floor / ms * 1e3 / limit:6.1%} right {right}")  # fmt: skip


def main() -> None:
    only = "scan,reduce,select,cub"
    parts = (sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else only).split(",")
    cub = Cub("primitives/cub_primitives") if "cub" in parts else None
    torch.zeros(1, device="cuda")
    properties = torch.cuda.get_device_properties(0)
    sms = properties.multi_processor_count
    say(f"{properties.name}, {sms} SMs; {N} items of 4 bytes (half as many of 8); PyTorch {torch.__version__}")
    wanted = [("primitives/scan.cu", scan_defines(o, i, *s)) for o, i in [("Sum", "u32"), *OTHER_SCANS] for s in SCANS]
    reduced = [("Sum", "u32"), ("Max", "i32"), ("Min", "float"), ("Compose", "u32")]
    wanted += [("primitives/reduce.cu", scan_defines(o, i, t, r)) for o, i in reduced for t, r in REDUCES]
    wanted += [("primitives/select.cu", select_defines(*shape)) for shape in SELECTS]
    float_shapes = itertools.product(("float", "double"), FLOAT_SUMS)
    wanted += [("primitives/float_sum.cu", {"HR_ITEM": i, "HR_THREADS": t, "HR_ROWS": r}) for i, (t, r) in float_shapes]
    cubins = compile_all(wanted)
    copy_limit, read_limit = limits()
    if "scan" in parts:
        scans(cubins, copy_limit, sms)
    if "reduce" in parts:
        reduces(cubins, read_limit, sms)
        float_sums(cubins, read_limit)
    if "select" in parts:
        selects(cubins, copy_limit, sms)
    if cub is not None:
        asked = [("scan", 0, N), ("reduce", 0, N), *[("select", percent, N) for percent in (1, 50, 99)]]
        for line, found in zip(asked, cub.better(asked), strict=True):
            say(f"CUB {line[0]}, {line[1]} percent selected: {found.rates.kernel:7.1f} G/s, {found.count} number of items")
        say(subprocess.run([cub.program, "small"], check=False, capture_output=True, text=True).stdout)
    if "--out" in sys.argv:
        Path(sys.argv[sys.argv.index("--out") + 1]).write_text("\n".join(page.lines) + "\n")


if __name__ == "__main__":
    main()
