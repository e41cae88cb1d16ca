"""Tool definitions from a file: the monitor's own layout, OpenAI, Anthropic, MCP, Strands."""

from __future__ import annotations

from monitor.errors import InvalidInput
from monitor.model import JsonValue, ToolDefinition
from monitor.references.documents import decoded, flag_of, list_at, object_at, shown, text_of

_WRAPPERS = ("function", "toolSpec", "tool_spec")
_SCHEMAS = ("parameters", "inputSchema", "input_schema")


def parse_tools(source: bytes | str | JsonValue, where: str) -> list[ToolDefinition]:
    """The definitions of a `{"tools": [...]}` document or of a bare list.

    The list must be complete: a call of a tool that neither it nor the trace defines fails.
    Raises InvalidInput naming the entry (from 1) and what is wrong with it.
    """
    document = decoded(source, where)
    if isinstance(document, dict):
        if "tools" not in document:
            raise InvalidInput(f"{where}: no `tools` list; write {{'tools': [...]}} or a bare list")
        document = document["tools"]
    tools: dict[str, ToolDefinition] = {}
    for number, entry in enumerate(list_at(document, f"{where}: tools"), start=1):
        tool = _tool(entry, f"{where}: tool {number}")
        known = tools.setdefault(tool.name, tool)
        if known != tool:
            raise InvalidInput(
                f"{where}: tool {number}: {shown(tool.name)!r} is defined twice, differently"
            )
    return list(tools.values())


def _tool(value: JsonValue, where: str) -> ToolDefinition:
    entry = object_at(value, where)
    for wrapper in _WRAPPERS:
        if isinstance(entry.get(wrapper), dict):
            # Keys beside the wrapper (`writes`, `tool_id`) are the author's own additions.
            entry = {**entry, **entry[wrapper]}
    name = text_of(entry, "name", where)
    tool_id, action = text_of(entry, "tool_id", where), text_of(entry, "action", where)
    if not name:
        if not action:
            raise InvalidInput(f"{where}: no name")
        name = f"{tool_id}.{action}" if tool_id else action
    where = f"{where} ({shown(name)})"
    return ToolDefinition(
        name=name,
        tool_id=tool_id,
        action=action,
        parameters=_schema(entry, where),
        description=text_of(entry, "description", where),
        writes=_writes(entry, where),
    )


def _schema(entry: dict[str, JsonValue], where: str) -> dict[str, JsonValue] | None:
    for key in _SCHEMAS:
        schema = entry.get(key)
        if schema is None:
            continue
        schema = object_at(schema, f"{where}: {key}")
        if isinstance(schema.get("json"), dict):
            schema = schema["json"]
        _check_schema(schema, f"{where}: {key}")
        return schema
    return None


def _check_schema(schema: dict[str, JsonValue], where: str) -> None:
    object_at(schema.get("properties", {}), f"{where}: properties")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(key, str) for key in required):
        raise InvalidInput(f"{where}: required must be a list of argument names")


def _writes(entry: dict[str, JsonValue], where: str) -> bool | None:
    writes = flag_of(entry, "writes", where)
    if writes is not None:
        return writes
    notes = entry.get("annotations")
    read_only = notes.get("readOnlyHint") if isinstance(notes, dict) else None
    return not read_only if isinstance(read_only, bool) else None
