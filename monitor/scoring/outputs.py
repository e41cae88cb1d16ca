"""Values that some reply must state: which of them no reply ever said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from monitor.scoring.words import normalised, tokens


def unsaid(outputs: Sequence[str], replies: Iterable[str]) -> tuple[str, ...]:
    """The outputs that no reply states, in their order.

    A number counts in any spelling (`1,000.00` for 1000), a text wherever it occurs, without
    regard to case, as whole words.
    """
    said: set[str] = set()
    texts: list[str] = []
    for reply in replies:
        said.update(tokens(reply))
        texts.append(f" {normalised(reply)} ")
    return tuple(output for output in outputs if not _is_said(output, said, texts))


def _is_said(output: str, said: set[str], texts: list[str]) -> bool:
    wanted = tokens(output)
    if len(wanted) == 1 and wanted[0] in said:
        return True
    text = normalised(output)
    return any(_occurs(text, reply) for reply in texts)


def _occurs(text: str, reply: str) -> bool:
    start = reply.find(text)
    while start >= 0:
        before, after = reply[start - 1 : start], reply[start + len(text) : start + len(text) + 1]
        if not (text[:1].isalnum() and before.isalnum()) and not (
            text[-1:].isalnum() and after.isalnum()
        ):
            return True
        start = reply.find(text, start + 1)
    return not text
