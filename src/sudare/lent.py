"""Tuples of arrays, lent: how a kernel hands all that it works on to its steps.

Numba passes a named tuple as all its numbers: an array is seven of them, and steps that take four tuples of arrays have hundreds
of arguments, which cost most of the time of compiling them. Lent, a tuple is one address.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar, cast

from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, models, register_model

T = TypeVar("T")


class _Lent(types.Type):
    """A named tuple that stands in the frame of the kernel that lends it."""

    def __init__(self, held: types.NamedTuple) -> None:
        self.held = held
        super().__init__(name=f"lent({held})")

    def member(self, name: str) -> tuple[int, types.Type]:
        place = self.held.fields.index(name)
        return place, self.held.types[place]


@register_model(_Lent)
class _LentModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: _Lent) -> None:
        super().__init__(manager, kind, manager.lookup(kind.held).get_value_type().as_pointer())


@intrinsic
def _lent(_typing: Any, held: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return cgutils.alloca_once_value(builder, arguments[0])

    return _Lent(held)(held), generate


class _Lending(Protocol):
    def __call__(self, held: T) -> T: ...


lent = cast(_Lending, _lent)
"""Inside a kernel: lend a named tuple to steps. Who calls the kernel holds its arrays for as long as it runs, so only what the kernel
was given may be lent, never what it made."""


@infer_getattr
class _LentMembers(AttributeTemplate):
    key = _Lent

    def generic_resolve(self, kind: _Lent, name: str) -> Any:  # type: ignore[override]
        if name not in kind.held.fields:
            return None
        _, member = kind.member(name)
        return _Lent(member) if isinstance(member, types.NamedTuple) else member


@lower_getattr_generic(_Lent)
def _load_member(context: Any, builder: Any, kind: _Lent, address: Any, name: str) -> Any:
    place, member = kind.member(name)
    at = cgutils.gep_inbounds(builder, address, 0, place)
    if isinstance(member, types.NamedTuple):
        return at
    if isinstance(member, types.Array):
        return _uncounted(context, builder, member, builder.load(at))
    return impl_ret_borrowed(context, builder, member, builder.load(at))


def _uncounted(context: Any, builder: Any, kind: types.Array, value: Any) -> Any:
    """Return an array that is not told to be held: counting who holds it would take longer than most of what steps do with it."""
    holder = context.data_model_manager[kind].get_field_position("meminfo")
    nobody = cgutils.get_null_value(value.type.elements[holder])
    return builder.insert_value(value, nobody, holder)
