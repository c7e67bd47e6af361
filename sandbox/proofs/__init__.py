"""The proofs: what must hold of a family, each shown by running it.

`prove` runs all of them over one record and gives a `Certificate`. A module of this package registers its proofs by
decorator; the order of the imports below is the order in which they are tried.
"""

from agentbound.sandbox.proofs import solvable as _solvable  # noqa: I001  (the order of trying)
from agentbound.sandbox.proofs import worlds as _worlds
from agentbound.sandbox.proofs import grounds as _grounds
from agentbound.sandbox.proofs import honest as _honest
from agentbound.sandbox.proofs import sharp as _sharp
from agentbound.sandbox.proofs import agree as _agree
from agentbound.sandbox.proofs import scripted as _scripted
from agentbound.sandbox.proofs import rules as _rules
from agentbound.sandbox.proofs.bench import PROOFS, Bench, Proof
from agentbound.sandbox.proofs.certificate import Certificate, prove, prove_scaffold, prove_wordings

__all__ = ["PROOFS", "Bench", "Certificate", "Proof", "prove", "prove_scaffold", "prove_wordings"]

del _agree, _grounds, _honest, _rules, _scripted, _sharp, _solvable, _worlds
