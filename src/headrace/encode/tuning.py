"""Lists the sizes of the text kernels; launches and the program list are computed from it."""

from headrace.gpu.kernels.source import Programs

TEXT_THREADS = 256
ROWS_PER_THREAD = 8  # TURNS of texts_task.hpp

PROGRAMS: Programs = tuple((file, {"HR_THREADS": [TEXT_THREADS]}) for file in ("views.cu", "dictionary.cu"))
