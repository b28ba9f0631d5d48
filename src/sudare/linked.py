"""Steps without machine code of their own: each is handed to the kernels that call it as it is, and is made ready there, once.

Numba makes every function ready to run by itself, with all that it calls: a step that three kernels reach through two others would be
made ready six times, and five of them never run.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher


class Step(CPUDispatcher):
    """A step. It is made ready for whole numbers, whichever they are.

    Numba would make it ready once more for the number that a variable of the kernel begins with.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return how it is called with arguments of some types."""
        any_ = {name: types.unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template([types.unliteral(kind) for kind in args], any_)


class Linked(Compiler):
    """Compiles a step as far as kernels need it."""

    def define_pipelines(self) -> Any:
        """Return Numba's own pipelines, which put what they make into the library that is there."""
        if self.state.library is None:
            self.state.library = _Part(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()


class _Part(JITCodeLibrary):
    """A part of kernels."""

    def finalize(self) -> None:
        """Join what this step calls to it, neither made faster nor turned into machine code."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return that there is no address: nothing but kernels calls a step."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """Return whoever is told of a function's constants in Python; a step has none."""
        return self

    def set_env(self, name: str, env: Any) -> None:
        """Take no notice of them."""
