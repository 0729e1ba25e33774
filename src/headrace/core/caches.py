"""Lists every module-level cache of the package, and clears those that hold values of callers.

A cache never changes an answer: it keeps what was computed from options, types or files, for the next call with the same ones.
All are bounded. ``checks/caches.py`` finds caches that are not listed here, and entries without a cache.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from operator import attrgetter
from types import MappingProxyType

CLEARED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        # Options of calls, and what follows from them.
        "headrace.api.options.csv_options": ("_parsed",),
        "headrace.api.load.prepared": ("known_beginnings",),
        "headrace.api.load.reading": ("_parts", "_places"),
        "headrace.api.load.repeated_read": ("known_reads",),
        "headrace.api.store.sql_rows": ("_databases",),
        "headrace.columns.schema": ("_headers", "_compared", "_planned"),
        "headrace.columns.plan.native_dialect": ("_dialects",),
        "headrace.columns.records.split_points": ("_strict",),
        "headrace.columns.zone": ("zone_named", "local_times"),
        "headrace.core.device": ("_parsed",),
        "headrace.sources.encoding.decode_gpu": ("_page",),
        "headrace.sources.encoding.encoding": ("code_page",),
        "headrace.structure.dialect_automaton": ("automaton_of",),
        # Launches on a GPU that were prepared for a dialect, a schema or a user's expression.
        "headrace.columns.convert.gpu.column_group": ("_plans",),
        "headrace.columns.convert.gpu.fast.launches": ("_readings",),
        "headrace.columns.load.gpu.setup_cache": ("known_setups",),
        "headrace.structure.gpu.dialect_tables": ("_known_tables",),
        "headrace.structure.gpu.find": ("_searches", "_variant_cache"),
        "headrace.arrange.multisplit.gpu.labels": ("_cells_defines", "_label_defines"),
        "headrace.gpu.kernels.launcher": ("known_kernels",),
        "headrace.gpu.kernels.launch_plan": ("known_plans",),
        "headrace.index.sorted_map.gpu.engine": ("_kernels_in",),
        # Types of arrays, and the rules that follow from them.
        "headrace.arrange.bucket.buckets": ("even",),
        "headrace.arrange.bucket.layouts": ("rule_layout",),
        "headrace.arrange.histogram.histogram": ("plan_for",),
        "headrace.arrange.search.search": ("_many_distinct",),
        "headrace.arrange.sort.small_arrays": ("_rule",),
        "headrace.arrange.sort.key_order": ("KeyOrder.of", "_packed"),
        "headrace.arrays.arrays": ("width_of", "constant_name", "_typestr_of"),
        "headrace.arrays.placement": ("_numpy_type",),
        "headrace.arrays.repeated": ("known_calls",),
        "headrace.primitives.operators": ("Joining._of",),
        "headrace.query.find.gpu.plan": ("_known_plan",),
        "headrace.query.match.automaton.native": ("native_automaton",),
        "headrace.query.match.automaton.tables": ("tables_of",),
        "headrace.query.match.gpu.steps": ("device_tables",),
    }
)  # caches that `clear_caches` empties: module, and the names in it

KEPT: Mapping[str, str] = MappingProxyType(
    {
        "headrace.*_defines": "compile-time constants of the package's own kernels",
        "headrace.*entry": "parameters of the package's own kernels",
        "headrace.arrange.sort.arguments._on": "attribute lookups by name",
        "headrace.arrange.sort.gpu.msd.msd._bits": "compile-time constants of the package's own kernels",
        "headrace.arrange.*.tuning_of": "sizes of kernels for a model of GPU",
        "headrace.index.sorted_map.engine._engine_on": "classes of the package",
        "headrace.arrays.arrays._card": "devices by number",
        "headrace.arrays.arrow_device._exported": "structures that a consumer has not released yet",
        "headrace.arrays.arrow_device._in_capsules": "structures that capsules point to",
        "headrace.columns.convert.gpu.column_group._kind_types": "types of the package",
        "headrace.columns.convert.gpu.tuning.*_program": "compile-time constants of the package's own kernels",
        "headrace.columns.convert.gpu.target.*": "compile-time constants of the package's own kernels",
        "headrace.columns.faults.gpu.policies.fault_policies": "outcomes of faults, by a few texts",
        "headrace.columns.faults.rejects.no_rejects": "the empty table of rejects",
        "headrace.core.process.process_lock._renewed": "objects in use, whose locks a forked process makes anew",
        "headrace.core.fast_constructor._constructor": "functions that create values of the package's own classes",
        "headrace.gpu.device.*": "modules and functions of the driver, and properties of GPUs",
        "headrace.gpu.kernels.cache.shipped": "the folder of the package of compiled kernels",
        "headrace.gpu.kernels.cache.user_cache": "the folder of compiled kernels",
        "headrace.gpu.kernels.child_compile.*": "processes that compile programs",
        "headrace.gpu.kernels.kernel.*": "loaded kernels, which launches may be using",
        "headrace.gpu.kernels.source._body": "sources of the package's own kernels",
        "headrace.gpu.kernels.source.listed_variants": "the package's own list of programs",
        "headrace.gpu.kernels.source.masks_of": "macros of the package's own list of programs",
        "headrace.gpu.kernels.source.programs_in": "the package's own list of programs",
        "headrace.index.hash_map.gpu.slab_kernels.*": "compile-time constants of the package's own kernels",
        "headrace.primitives.scan._scan_kernel": "loaded kernels, which launches may be using",
        "headrace.arrays.placement._cupy": "a module",
        "headrace.gpu.memory.*": "memory pools of a GPU, and pinned memory; they release what they do not use",
        "headrace.gpu.transfer.staging._stagings": "the staging buffers of a GPU",
        "headrace.sources.compression.adapters.gzip_module": "the module that decompresses gzip",
        "headrace.sources.kinds.gpu_array._modules": "modules",
        "headrace.structure.gpu.dialect_tables.*": "bits of an automaton's steps, by small integers",
    }
)  # caches that stay, because nothing in them comes from a caller or because it is in use: pattern, and what they hold


def clear_caches() -> None:
    """Delete what the package keeps from earlier calls to speed up later ones.

    Calls after it compute the same answers, and are slower once. It may be called at any time, from any thread, also during other
    calls. Kept are loaded kernels, memory pools and handles of GPUs; `release_unused_memory` returns host memory that waits for
    its next use.

    Examples
    --------
    >>> import headrace
    >>> first = headrace.read_csv(b"a\\n1\\n").to_pydict()
    >>> headrace.clear_caches()
    >>> headrace.read_csv(b"a\\n1\\n").to_pydict() == first
    True
    """
    for name, caches in CLEARED.items():
        module = sys.modules.get(name)  # a module that is not imported has cached nothing
        if module is None:
            continue
        for cache in caches:
            found = attrgetter(cache)(module)
            (found.cache_clear if hasattr(found, "cache_clear") else found.clear)()
