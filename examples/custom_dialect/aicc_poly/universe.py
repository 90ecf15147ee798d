"""What the package's entry point shows to aicc: names and loaders, so that nothing is imported before it is used."""

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe


def _poly() -> Dialect:
    from aicc_poly.dialect import Poly

    return Poly


def _even_to_square() -> type[ModulePass]:
    from aicc_poly.even_to_square import PolyEvenToSquarePass

    return PolyEvenToSquarePass


POLY_UNIVERSE = Universe(all_dialects={"poly": _poly}, all_passes={"poly-even-to-square": _even_to_square})
