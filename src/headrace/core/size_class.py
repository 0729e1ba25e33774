"""Groups lengths in classes, so that calls of many lengths share the launches that were prepared for few."""

_LEAST = 16
_BITS = 4  # significant bits of a class's largest length: classes are an eighth of a power of 2
_BELOW = 1 << 25  # the time of the host matters less for more items, and an eighth of their memory more


def size_class(length: int) -> range:
    """Return the lengths of the class of a length; none if it has no class: it is 0, or the class reaches 2**25.

    >>> [size_class(length) for length in (1, 17, 1000, 1024, 1025, 1 << 25)]
    [range(1, 17), range(17, 19), range(961, 1025), range(961, 1025), range(1025, 1153), range(0, 0)]
    """
    shift = max(0, (length - 1).bit_length() - _BITS)
    largest = max(_LEAST, (length - 1 >> shift) + 1 << shift)
    if length == 0 or largest >= _BELOW:
        return range(0)
    return range(1 if largest == _LEAST else largest - (1 << shift) + 1, largest + 1)
