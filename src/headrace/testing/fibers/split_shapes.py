"""Lists small launch configurations of multisplit for the harness: a few tiles of few keys cover every edge case."""

from headrace.arrange.multisplit.gpu.launches import Shapes

SPLIT_SHAPES = Shapes(
    keys=(256, 4, 1),
    with_values=(256, 4, 1),
    long_keys=(256, 4, 1),
    long_keys_with_values=(256, 4, 1),
    reserving=(256, 4, 1),
    reserving_long=(256, 4, 1),
    counting=(256, 1),
    warps=(64, 2),
    multiprocessors=2,
    groups_of_multiprocessor=2,
    warps_of_multiprocessor=3,
    keys_of_chunk=(2048, 2048, 1),
    together=(256, 4, 1),
    alone=(256, 4, 1),
)
