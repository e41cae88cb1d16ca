"""Events to turns: what was said, which call ran where, and with what result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from monitor.assembly.calls import answered, matched
from monitor.assembly.flow import Event, call_of
from monitor.assembly.histories import reply_of, tail_of
from monitor.assembly.wrappings import as_asked
from monitor.model import ActionTurn, AgentSpan, ResponseTurn, ToolCall, ToolResult, Turn, turn_id


def turns_of(
    conversation_id: str, root: AgentSpan | None, events: Sequence[Event]
) -> tuple[Turn, ...]:
    """The turns of one run, in order: a reply before the calls that were asked for with it."""
    scopes = _scopes(events)
    for scope in scopes.values():
        scope.join_runs_to_calls()
        scope.find_results()
    top = scopes[None].items
    handed = scopes[None].handed
    ended = root is not None and not unfinished(root) and reply_of(root.messages_out) is None
    if handed is not None and ended:
        top.append(handed)
    _add_reply_of_root(top, root, events)
    items = top if len(scopes) == 1 else _flat(top)
    return tuple([item.turn(conversation_id) for item in items])


class _Say:
    """A reply in the making."""

    def __init__(self, span: AgentSpan, text: str | None, agent: str | None) -> None:
        self.spans = [span]
        self.text = text
        self.agent = agent
        self.media: tuple[str, ...] = ()

    def turn(self, conversation_id: str) -> Turn:
        first = self.spans[0]
        span_ids, end_ns, truncated = [], first.start_ns, self._broke_off()
        for span in self.spans:
            if span.span_id not in span_ids:
                span_ids.append(span.span_id)
            end_ns = max(end_ns, span.end_ns)
            truncated = truncated or span.truncated
        return ResponseTurn(
            turn_id=turn_id(conversation_id, first.span_id),
            text=self.text,
            agent=self.agent,
            model=first.model,
            span_ids=tuple(span_ids),
            trace_id=first.trace_id,
            start_ns=first.start_ns,
            end_ns=end_ns,
            truncated=truncated,
            media=self.media,
        )

    def _broke_off(self) -> bool:
        """Whether the reply may not be whole.

        So it is where the run above it failed or never ended, and where the model's call did, or
        told that it stopped early, and nobody above who ended well tells the whole. An agent that
        only repeats the words of a model that stopped early does not.
        """
        model, above = self.spans[0], self.spans[1:]
        if any(unfinished(span) for span in above):
            return True
        if not unfinished(model) and not model.cut_short:
            return any(span.cut_short for span in above)
        words = (reply_of(model.messages_out) or "").strip()
        told = [reply_of(span.messages_out) for span in above]
        if model.cut_short:
            return not any(text and text.strip() != words for text in told)
        return not any(text is not None for text in told)


def unfinished(span: AgentSpan) -> bool:
    """Whether the span failed or never ended."""
    return span.error_type is not None or 0 == span.end_ns < span.start_ns


class _Act:
    """A call in the making, from a message, a tool span, or both."""

    def __init__(self, call: ToolCall, depth: int, agent: str | None) -> None:
        self.call = call
        self.depth = depth
        self.agent = agent
        self.asked_by: AgentSpan | None = None
        self.number = 0
        self.run: Event | None = None
        self.answer: ToolResult | None = None
        self.inner: Sequence[_Say | _Act] = ()

    def take(self, done: _Act) -> None:
        """Become one with the tool span that carried the call out."""
        asked, self.run, self.inner = self.call, done.run, done.inner
        self.agent = done.agent or self.agent
        call = as_asked(done.call, asked)
        if call.arguments_state != "parsed" and asked.arguments_state != "absent":
            call = msgspec.structs.replace(
                call, arguments=asked.arguments, arguments_state=asked.arguments_state
            )
        if call.call_id is None:
            call = msgspec.structs.replace(call, call_id=asked.call_id)
        self.call = call

    @property
    def unanswered(self) -> bool:
        if self.answer is not None:
            return False
        run = self.run
        if run is None or run.span.has_result:
            return run is None
        return not any(twin.has_result for twin in run.twins)

    @property
    def failed(self) -> bool:
        """Whether the run is there and went wrong, and tells no result."""
        return self.unanswered and any(span.error_type is not None for span in self._runs())

    @property
    def succeeded(self) -> bool:
        """Whether the run is there and tells its result."""
        runs = self._runs()
        return any(span.has_result and span.error_type is None for span in runs)

    def turn(self, conversation_id: str) -> Turn:
        runs, asked_by = self._runs(), self.asked_by
        spans = runs or ([asked_by] if asked_by is not None else [])
        first = spans[0]
        start_ns = first.start_ns if runs else max(first.start_ns, first.end_ns)
        identity = first.span_id if runs else f"{first.span_id}:{self.number}"
        result, has_result, error = self._outcome(runs)
        return ActionTurn(
            turn_id=turn_id(conversation_id, identity),
            call=self.call,
            result=result,
            has_result=has_result,
            error_type=error,
            agent=self.agent,
            model=asked_by.model if asked_by is not None else first.model,
            span_ids=tuple([span.span_id for span in spans]),
            trace_id=first.trace_id,
            depth=self.depth,
            start_ns=start_ns,
            end_ns=max(first.start_ns, first.end_ns),
            truncated=any(span.truncated for span in spans),
        )

    def _runs(self) -> list[AgentSpan]:
        return [self.run.span, *self.run.twins] if self.run is not None else []

    def _outcome(self, runs: Sequence[AgentSpan]) -> tuple[object, bool, str | None]:
        error = told = None
        for span in runs:
            error = error or span.error_type
            if told is None and span.has_result:
                told = span
        if told is not None:
            return told.result, True, error
        if self.answer is not None:
            return self.answer.result, True, error or ("error" if self.answer.is_error else None)
        return None, False, error


class _Scope:
    """What happened inside one tool run, or outside of any."""

    def __init__(self) -> None:
        self.items: list[_Say | _Act] = []
        self._asked: list[_Act] = []
        self._done: list[_Act] = []
        self._givens: list[tuple[int, AgentSpan]] = []
        self._calling = False
        self.handed: _Say | None = None
        """What an inner agent said last, after the outermost had asked for calls and no more."""

    def model(self, event: Event) -> None:
        span = event.span
        self._givens.append((len(self._asked), span))
        calls = [call for message in span.messages_out or () for call in message.calls]
        say = _said(event)
        if event.depth == 0:
            self._calling, self.handed = bool(calls), None
            if say is not None:
                self.items.append(say)
        elif self._calling and say is not None and say.text and not calls:
            self.handed = say
        for number, call in enumerate(calls):
            act = _Act(call, event.depth, event.agent)
            act.asked_by, act.number = span, number
            self._asked.append(act)
            self.items.append(act)

    def tool(self, event: Event) -> _Act:
        act = _Act(call_of(event.span), event.depth, event.agent)
        act.run = event
        self._done.append(act)
        self.items.append(act)
        return act

    def join_runs_to_calls(self) -> None:
        """A tool span takes the place of the call that asked for it."""
        if not self._asked or not self._done:
            return
        pairs = matched(self._asked, self._done)
        for asked, done in pairs:
            asked.take(done)
        taken = {id(done) for _, done in pairs}
        self.items[:] = [item for item in self.items if id(item) not in taken]

    def find_results(self) -> None:
        """What no tool span told, a later model call's messages may."""
        settled = {
            item.call.call_id for item in self.items if isinstance(item, _Act) and item.succeeded
        }
        asked = [
            (at, act)
            for at, act in enumerate(self._asked)
            # Of a call whose other attempt worked, a history tells that one's result.
            if not (act.failed and act.call.call_id and act.call.call_id in settled)
        ]
        waiting = [act for _, act in asked if act.unanswered]
        for asked_so_far, span in self._givens if waiting else ():
            acts = [act for at, act in asked if at < asked_so_far]
            if any(act.unanswered for act in acts):
                give_results(acts, tail_of(span.messages_in).results)


def give_results(acts: Sequence[_Act], results: Sequence[ToolResult]) -> None:
    """Hand results to unanswered calls.

    New results alone belong to the latest calls; a repeated history has one for every call. Both
    are met by looking at as many of the latest calls as there are results first.
    """
    recent = acts[-len(results) :] if results else acts
    pairs = answered(recent, results, among=acts)
    given = {id(result) for _, result in pairs}
    pairs += answered(
        [act for act in acts if act.unanswered and all(act is not done for done, _ in pairs)],
        [result for result in results if id(result) not in given],
    )
    for act, result in pairs:
        if act.unanswered:
            act.answer = result


def _scopes(events: Sequence[Event]) -> dict[Event | None, _Scope]:
    scopes: dict[Event | None, _Scope] = {None: _Scope()}
    runs: dict[Event, _Act] = {}
    for event in events:
        host = event.host
        if host is not None and host not in scopes:
            if host in runs:
                scopes[host] = _Scope()
                runs[host].inner = scopes[host].items
            else:
                host = None
        scope = scopes[host]
        if event.span.kind == "model":
            scope.model(event)
        else:
            runs[event] = scope.tool(event)
    return scopes


def _said(event: Event) -> _Say | None:
    """The reply in a model's output; "" where the model was heard and said nothing at all."""
    out = event.span.messages_out
    if not out:
        return None
    texts: dict[str, None] = {}
    media: tuple[str, ...] = ()
    calls = False
    for message in out:
        if message.text:
            texts[message.text] = None
        media += message.media
        calls = calls or bool(message.calls)
    if calls and not texts and not media:
        return None
    say = _Say(event.span, "\n".join(texts), event.agent)
    if media and not texts:
        say.text = None
    say.media = media
    return say


def _add_reply_of_root(
    top: list[_Say | _Act], root: AgentSpan | None, events: Sequence[Event]
) -> None:
    replies = [item for item in top if isinstance(item, _Say)]
    text = reply_of(root.messages_out) if root is not None else None
    if root is not None and replies and (text is None or _same(text, replies[-1].text)):
        if text is not None and (
            unfinished(replies[-1].spans[0]) or replies[-1].spans[0].cut_short
        ):
            replies[-1].text = text
        replies[-1].spans.append(root)
    elif root is not None and text is not None:
        _place_reply(top, replies, root, text)
    elif not replies:
        unheard = _unheard(root, events)
        if unheard:
            top.append(unheard)


def _place_reply(
    top: list[_Say | _Act], replies: Sequence[_Say], root: AgentSpan, text: str
) -> None:
    """The root says other words than its last model call."""
    for reply in reversed(replies):
        if _same(text, reply.text):
            reply.spans.append(root)
            return
    if replies and top[-1] is replies[-1]:
        # The user saw the root's words: a guard or formatter stood behind the model.
        replies[-1].text = text
        replies[-1].spans.append(root)
    elif text.strip() or not replies:
        top.append(_Say(root, text, root.agent))


def _same(text: str, other: str | None) -> bool:
    if other is None:
        return False
    mine, its = text.strip(), other.strip()
    return mine == its or (bool(mine and its) and (mine in its or its in mine))


def _unheard(root: AgentSpan | None, events: Sequence[Event]) -> _Say | None:
    """A reply whose words were not captured; None when the run failed or its words are known."""
    models = [event for event in events if event.span.kind == "model" and event.depth == 0]
    last = models[-1].span if models else root
    if last is None or last.messages_out is not None or last.error_type is not None:
        return None
    if root is not None and (root.error_type is not None or root.messages_out is not None):
        return None
    say = _Say(last, None, models[-1].agent if models else last.agent)
    if root is not None:
        say.spans.append(root)
    return say


def _flat(items: Sequence[_Say | _Act]) -> Iterator[_Say | _Act]:
    stack = list(reversed(items))
    while stack:
        item = stack.pop()
        yield item
        if isinstance(item, _Act):
            stack.extend(reversed(item.inner))
