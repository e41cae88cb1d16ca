"""Each native format against the port's promises, and against the conversation that it tells."""

from __future__ import annotations

from document_decoder_conformance import DocumentDecoderConformance
from framework_documents import (
    ADK_SESSION,
    AGENT_TRACE,
    AGENTCORE,
    ARGUMENTS,
    BEDROCK,
    GENERIC,
    LANGCHAIN,
    LANGCHAIN_RUNS,
    LANGGRAPH,
    QUERY,
    REPLY,
    RESULT,
    SPANS,
    STRANDS,
)

from monitor.model import ActionTurn, ResponseTurn, Usage


class OfTheShop(DocumentDecoderConformance):
    """Every document tells the same conversation, so far as its format can."""

    timed = False
    usage: Usage | None = Usage(20, 7)

    def test_the_document_tells_the_shops_conversation(self) -> None:
        [conversation] = self.conversations(self.document)
        assert conversation.conversation_id == "s-1"
        assert not conversation.synthetic_id
        assert conversation.queries == (QUERY,)
        assert conversation.usage == self.usage
        action, response = conversation.turns
        assert isinstance(action, ActionTurn)
        assert isinstance(response, ResponseTurn)
        assert action.call.name == "find_order"
        assert action.call.arguments == ARGUMENTS
        assert action.call.arguments_state == "parsed"
        assert (action.result, action.has_result, action.error_type) == (RESULT, True, None)
        assert response.text == REPLY

    def test_the_model_is_told(self) -> None:
        assert self.conversations(self.document)[0].model == "m-1"

    def test_no_time_is_invented(self) -> None:
        [conversation] = self.conversations(self.document)
        response = conversation.turns[-1]
        waited_ns = response.end_ns - response.start_ns
        # The conversation began at 10 o'clock and took four seconds.
        assert (response.start_ns, waited_ns) == (
            (1_772_359_200_000_000_000, 4_000_000_000) if self.timed else (0, 0)
        )


class TestLangGraph(OfTheShop):
    format = "langgraph"
    document = LANGGRAPH


class TestLangChain(OfTheShop):
    format = "langchain"
    document = LANGCHAIN


class TestLangChainRuns(OfTheShop):
    format = "langchain"
    document = LANGCHAIN_RUNS
    timed = True


class TestStrands(OfTheShop):
    format = "strands"
    document = STRANDS


class TestAgentCore(OfTheShop):
    format = "agentcore"
    document = AGENTCORE
    timed = True
    usage = None

    def test_the_model_is_told(self) -> None:
        """Neither the invocation nor its log names it."""
        assert self.conversations(self.document)[0].model is None


class TestBedrock(OfTheShop):
    format = "bedrock"
    document = BEDROCK
    timed = True


class TestAgentTrace(OfTheShop):
    format = "agent_trace"
    document = AGENT_TRACE
    timed = True


class TestAdkSession(OfTheShop):
    format = "adk_session"
    document = ADK_SESSION
    timed = True


class TestSpanRecords(OfTheShop):
    format = "spans"
    document = SPANS
    timed = True


class TestGeneric(OfTheShop):
    format = "generic"
    document = GENERIC


del OfTheShop
