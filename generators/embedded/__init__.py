"""The embedded generator: families out of blueprints, with no model and no network."""

from agentbound.generators.embedded.scaffold import Drawn, draw_scaffold
from agentbound.generators.embedded.wording import draw_wording
from agentbound.generators.embedded.writer import EmbeddedWriter

__all__ = ["Drawn", "EmbeddedWriter", "draw_scaffold", "draw_wording"]
