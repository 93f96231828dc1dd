"""How sure a number is: what the holes could make of it; knows no page, no file and no database."""

from labeler.uncertainty.bands import Band, Bands, DeltaBands, MeanBands
from labeler.uncertainty.filling import Filling, learn
from labeler.uncertainty.records import with_bands
from labeler.uncertainty.tops import DEPTH, Tops, find_tops

__all__ = [
    "DEPTH",
    "Band",
    "Bands",
    "DeltaBands",
    "Filling",
    "MeanBands",
    "Tops",
    "find_tops",
    "learn",
    "with_bands",
]
