"""NamedTuple as typing has it, made in a quarter of the time: every process makes the classes of all modules that it loads, a
hundred of them for a recall. typing checks each annotation and compiles a function for each class; here classes with as many
fields share one, and the methods that are the same for all stand in one base.
"""

import typing
from typing import TYPE_CHECKING

# Python 3.14 keeps the annotations of a class body elsewhere; it is known by a function that is new in it.
if TYPE_CHECKING or hasattr(typing, "evaluate_forward_ref"):
    from typing import NamedTuple as NamedTuple
else:
    from collections import _tuplegetter
    from functools import cache
    from types import FunctionType

    _new = tuple.__new__
    _GETTERS = [_tuplegetter(n, "A field of the record.") for n in range(64)]

    class _Record(tuple):
        __slots__ = ()

        @classmethod
        def _make(cls, values):
            made = _new(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changes):
            made = _new(type(self), map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return made

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self):
            return (*self,)

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._asdict().items())})"

    @cache
    def _compile_new(count):
        """Returns the code that makes a record of so many fields, whatever they are called."""
        names = "".join(f"_{n}, " for n in range(count))
        return eval(f"lambda _cls, {names}: _new(_cls, ({names}))").__code__

    class _Kind(type):
        def __new__(kind, name, bases, body):
            if not bases:
                return super().__new__(kind, name, bases, body)
            fields = (*body.get("__annotations__", ()),)
            defaults = {field: body[field] for field in fields if field in body}
            called = {"co_name": "__new__", "co_qualname": f"{name}.__new__", "co_varnames": ("_cls", *fields)}
            code = _compile_new(len(fields)).replace(**called)
            body |= {"__new__": FunctionType(code, globals(), "__new__", (*defaults.values(),)), "__slots__": ()}
            body |= {"_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
            return type(name, (_Record,), body | dict(zip(fields, _GETTERS, strict=False)))

    class NamedTuple(metaclass=_Kind):
        """The base of a record; a class statement with it makes a subclass of tuple, as with that of typing."""
