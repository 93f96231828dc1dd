"""How sure a number is: what the holes could make of it; knows no page, no file and no database."""

from labeler.uncertainty.filling import Filling, learn
from labeler.uncertainty.tops import DEPTH, Tops, find_tops

__all__ = ["DEPTH", "Filling", "Tops", "find_tops", "learn"]
