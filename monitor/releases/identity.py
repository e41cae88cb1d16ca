"""A name for releases that declare none, by the tools that they were given.

It is for applications whose set of tools changes with a release only. Where each conversation is
given its own, every set would pass for a release, so this is asked for and never assumed.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

import msgspec

from monitor.model import Conversation, ToolDefinition, release_name

DIGEST_BYTES: Final = 4
_PACK: Final = msgspec.json.Encoder(order="deterministic").encode


def named_by_tools(conversation: Conversation) -> str:
    """The conversation's release; `tools-<digest>` with its model where none was declared."""
    undeclared = release_name(None, conversation.model)
    if conversation.release != undeclared or not conversation.tools:
        return conversation.release
    return release_name(f"tools-{tools_digest(conversation.tools)}", conversation.model)


def tools_digest(tools: tuple[ToolDefinition, ...]) -> str:
    """The same for the same names and schemas, in whatever order they came. 8 hex digits."""
    contracts = sorted(_PACK((tool.name, tool.parameters)) for tool in tools)
    return blake2b(b"\n".join(contracts), digest_size=DIGEST_BYTES).hexdigest()
