"""Broken families, at least three for each proof, and exactly what is found in them (`findings.json`).

Each case breaks one of the golden families in one way. Where other proofs see the damage too, their codes are listed as
well, so that nothing is found by accident or missed in silence.
"""

from broken import form, judging, knowledge, wording, worlds
from broken.case import CASES, Case

__all__ = ["CASES", "Case"]

del form, judging, knowledge, wording, worlds
