"""Lists the programs that the kernels of this folder are compiled to, and their sizes."""

from __future__ import annotations

from headrace.gpu.kernels.source import Programs

THREADS = 256
PREFIX_ITEMS = 16
"""Characters of a thread in a scan of prefixes."""
_FORMS = tuple(range(5))

PROGRAMS: Programs = (
    ("rabin_karp.cu", {"HR_FORM": _FORMS, "HR_THREADS": [THREADS]}),
    ("prefixes.cu", {"HR_THREADS": [THREADS], "HR_ITEMS": [PREFIX_ITEMS]}),
)
