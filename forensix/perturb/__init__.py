"""Degradations: what media go through on their way, the same for training, for robustness tables, for real and fake.

>>> from forensix.perturb import find, grid
>>> [(name, strength) for name, strength, _ in grid("image")][:3]
[('jpeg', 90), ('jpeg', 70), ('jpeg', 50)]
>>> find("audio", "mp3").strengths, find("audio", "mp3").unit
((64, 32, 16), 'kbit/s')

`image`, `audio`, `rawboost` and `video` hold the functions, `registry` their names and strengths, `files` degrades
whole files.
"""

from forensix.perturb.files import degrade_file
from forensix.perturb.registry import KINDS, Degradation, find, grid, names, ordered

__all__ = ["KINDS", "Degradation", "degrade_file", "find", "grid", "names", "ordered"]
