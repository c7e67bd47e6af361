"""Releases: two directories and one version, the public part and the evaluation part.

OUT/public       what an agent and its harness may see: configs `tasks` and `worlds`
OUT/evaluation   everything else: configs `tasks` and `families`, and the release secret
"""

from agentbound.data.releases.assemble import Assembled, assemble
from agentbound.data.releases.card import RunFacts
from agentbound.data.releases.card_pages import REFERENCES
from agentbound.data.releases.read import Evaluation, read_evaluation, read_manifest, verify
from agentbound.data.releases.rows import EVALUATION_COLUMNS, PUBLIC_COLUMNS, Entry
from agentbound.data.releases.secrets import derive, task_id

__all__ = [
    "EVALUATION_COLUMNS",
    "PUBLIC_COLUMNS",
    "REFERENCES",
    "Assembled",
    "Entry",
    "Evaluation",
    "RunFacts",
    "assemble",
    "derive",
    "read_evaluation",
    "read_manifest",
    "task_id",
    "verify",
]
