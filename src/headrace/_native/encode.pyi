from typing import TypeAlias

from headrace._native.core import Buffer
from headrace.columns.column import Column

_Texts: TypeAlias = tuple[str, Buffer, Buffer | None, Buffer | None, tuple[Buffer, ...]]

def string_views(column: Column, threads: int, max_bytes: int) -> _Texts | None: ...
def plain_strings(column: Column, threads: int, max_small: int) -> _Texts: ...
def text_dictionary(column: Column, threads: int) -> tuple[_Texts, _Texts, int]: ...
