"""Defines dataclasses at a tenth of the standard module's cost: an import of the package defines 65 of them.

The standard decorator compiles six methods a class, in about 0.7 ms, and its module imports the parser of Python. Here only
``__init__`` is compiled and classes share the other methods. The functions of `dataclasses` accept the instances as well.
"""

from __future__ import annotations

import sys
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass, field, fields, replace

__all__ = ["dataclass", "field", "fields", "replace"]

_MISSING: Any = type("Missing", (), {"__repr__": lambda self: "<factory>"})()


class _Field:
    """A field: its default, and the methods that it takes part in.

    Parameters
    ----------
    default, default_factory
        The default, or a function that returns it. `_MISSING` for none.
    repr, compare
        Whether ``repr``, and whether ``==`` and ``hash``, include the field.
    kw_only
        Whether the field is passed by name only.
    """

    __slots__ = ("compare", "default", "default_factory", "kw_only", "name", "repr", "type")
    name: str
    type: Any
    kw_only: bool

    def __init__(
        self,
        *,
        default: Any = _MISSING,
        default_factory: Any = _MISSING,
        repr: bool = True,  # noqa: A002  # the name of the standard module
        compare: bool = True,
    ) -> None:
        self.default, self.default_factory, self.repr, self.compare = default, default_factory, repr, compare


def compile_init(cls: Any, assignment: str, last: str, of: tuple[_Field, ...] | None = None) -> Any:
    """Compile an ``__init__``: an assignment for each field of a class, and then the statement `last`."""
    of = _fields(cls) if of is None else of
    values: dict[str, Any] = {"_MISSING": _MISSING, "_set": object.__setattr__, "_cls": cls}
    by_place, by_name, body = ["self"], list[str](), list[str]()
    for each in of:
        name = value = each.name
        parameter = name
        if each.default is not _MISSING:
            parameter, values[f"_default_{name}"] = f"{name}=_default_{name}", each.default
        elif each.default_factory is not _MISSING:
            parameter, values[f"_make_{name}"] = f"{name}=_MISSING", each.default_factory
            value = f"_make_{name}() if {name} is _MISSING else {name}"
        (by_name if each.kw_only else by_place).append(parameter)
        body.append(assignment.format(name, value))
    parameters = ",".join([*by_place, "*", *by_name] if by_name else by_place)
    exec(f"def __init__({parameters}):\n {';'.join([*body, last])}", values)  # only names of fields are executed
    init = values["__init__"]
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    init.__annotations__ = {each.name: each.type for each in of} | {"return": None}
    return init


def _repr(self: Any) -> str:
    shown = ", ".join([f"{each.name}={getattr(self, each.name)!r}" for each in self.__fields__ if each.repr])
    return f"{self.__class__.__qualname__}({shown})"


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    compared = self.__compared__
    return compared(self) == compared(other)


def _hash(self: Any) -> int:
    return hash(self.__compared__(self))


def _refuse_assignment(self: Any, name: str, value: object = None) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r} of {self.__class__.__qualname__}, whose instances are immutable")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in self.__fields__]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(self.__fields__, state, strict=True):
        object.__setattr__(self, each.name, value)


class _StandardFields:
    """The attribute by which `dataclasses` knows its classes, built on first access."""

    def __get__(self, instance: object, owner: type) -> Any:
        import dataclasses

        members = []
        for each in _fields(owner):
            own: Any = {"repr": each.repr, "compare": each.compare, "kw_only": each.kw_only}
            own |= {} if each.default is _MISSING else {"default": each.default}
            own |= {} if each.default_factory is _MISSING else {"default_factory": each.default_factory}
            members.append((each.name, each.type, dataclasses.field(**own)))
        standard: Any = dataclasses.make_dataclass(owner.__name__, members)
        return standard.__dataclass_fields__


_STANDARD_FIELDS = _StandardFields()


def _annotates(cls: type) -> bool:
    """Return whether a class body has annotations. Before Python 3.14, a class without any shows those of its base."""
    return sys.version_info >= (3, 14) or "__annotations__" in cls.__dict__


def _collect_fields(cls: type, kw_only: bool) -> tuple[_Field, ...]:
    """Return the fields of a class: those of its bases, and those that its body annotates."""
    found: dict[str, _Field] = {}
    for base in reversed(cls.__mro__[1:]):
        found.update({each.name: each for each in base.__dict__.get("__fields__", ())})
    for name, annotation in getattr(cls, "__annotations__", {}).items() if _annotates(cls) else ():
        default = cls.__dict__.get(name, _MISSING)
        each = default if isinstance(default, _Field) else _Field(default=default)
        each.name, each.type, each.kw_only = name, annotation, kw_only
        found[name] = each
    return tuple(found.values())


def _dataclass(
    cls: type | None = None,
    *,
    frozen: bool = False,
    slots: bool = False,
    kw_only: bool = False,
    eq: bool = True,
    init: bool = True,
) -> Any:
    """Decorate a class as `dataclasses.dataclass` does. Class variables have no annotation."""
    if cls is None:
        return lambda cls: _dataclass(cls, frozen=frozen, slots=slots, kw_only=kw_only, eq=eq, init=init)
    own = _collect_fields(cls, kw_only)
    compared = [each.name for each in own if each.compare]
    added: dict[str, Any] = {"__repr__": _repr}
    if init:
        assignment = "_set(self,{0!r},{1})" if frozen else "self.{0}={1}"
        added["__init__"] = compile_init(
            cls, assignment, "self.__post_init__()" if hasattr(cls, "__post_init__") else "pass", own
        )
    if eq:
        added |= {"__eq__": _eq, "__hash__": _hash if frozen else None}
    if frozen:
        added |= {"__setattr__": _refuse_assignment, "__delattr__": _refuse_assignment}
        if slots:
            added |= {"__getstate__": _get_state, "__setstate__": _set_state}
    members = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
    body = added | {name: value for name, value in members.items() if name != "__hash__" or value is not None}
    always = {
        "__fields__": own,
        "__compared__": attrgetter(*compared) if compared else (lambda _: ()),
        "__dataclass_fields__": _STANDARD_FIELDS,
        "__match_args__": tuple(each.name for each in own if not each.kw_only),
        "__replace__": _replace,
    }
    if slots:
        inherited = {name for base in cls.__mro__[1:] for name in base.__dict__.get("__slots__", ())}
        for each in own:
            body.pop(each.name, None)
        body["__slots__"] = tuple(each.name for each in own if each.name not in inherited)
        return type(cls)(cls.__name__, cls.__bases__, body | always)
    for each in own:
        if isinstance(cls.__dict__.get(each.name), _Field):
            delattr(cls, each.name)
    for name, value in (added | always).items():
        if name not in members or name in always or members[name] is None:
            setattr(cls, name, value)
    return cls


def _fields(cls: Any) -> tuple[_Field, ...]:
    """Return the fields of a dataclass or of its instance."""
    return cls.__fields__  # type: ignore[no-any-return]


def _replace(instance: Any, /, **changes: Any) -> Any:
    """Return a new instance with some fields changed."""
    for each in instance.__fields__:
        changes.setdefault(each.name, getattr(instance, each.name))
    return instance.__class__(**changes)


if not TYPE_CHECKING:
    dataclass, field, fields, replace = _dataclass, _Field, _fields, _replace
