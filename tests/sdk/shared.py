"""What every driver does alike: the user's words and the tools. Standard library only."""

from __future__ import annotations

QUERIES = (
    "What is the weather in Paris and London?",
    "Convert Paris to Fahrenheit please",
    "Thanks!",
)
TOOL_SCHEMAS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather of a city.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "convert_temp",
            "description": "A temperature in another unit.",
            "parameters": {
                "type": "object",
                "properties": {"celsius": {"type": "number"}, "to": {"type": "string"}},
                "required": ["celsius", "to"],
            },
        },
    },
]


def get_weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: The city's name.
    """
    return {"Paris": "18.5C and sunny", "London": "14.0C and rainy"}[city]


def convert_temp(celsius: float, to: str) -> str:
    """A temperature in another unit.

    Args:
        celsius: Degrees Celsius.
        to: The unit, F for Fahrenheit.
    """
    return f"{celsius * 9 / 5 + 32:.1f}{to}"


TOOLS = {"get_weather": get_weather, "convert_temp": convert_temp}
