"""A small shop and the agent that serves it: where the demo's conversations come from.

The shop answers tool calls by really doing them, so that a wrong argument spoils later results and
replies just as it would in production. Every conversation can be played twice, once as it should
have gone and once with a habit of the agent.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Arguments = dict[str, Any]
Habit = Callable[[str, Arguments], tuple[str, Arguments]]
"""What the agent does to a call before it makes it: tool and arguments in, both out."""


@dataclass(slots=True)
class Call:
    """One tool call with the shop's answer."""

    tool: str
    arguments: Arguments
    result: dict[str, Any]
    error: str | None = None


@dataclass(slots=True)
class Exchange:
    """One user message, the calls behind the reply, and the reply."""

    user: str
    calls: list[Call] = field(default_factory=list)
    reply: str = ""


@dataclass(slots=True)
class Order:
    """One order of the shop."""

    order_id: str
    customer: str
    email: str
    item: str
    goods: float
    shipping: float
    status: str
    carrier: str
    parcel: str


PEOPLE = ("Mira Olsen", "Tomas Hale", "Ana Duarte", "Jun Park", "Lea Moreau", "Sam Okafor")
ITEMS = (
    ("walnut desk lamp", 64.90),
    ("trail running shoes", 118.00),
    ("cast iron skillet", 42.50),
    ("noise cancelling headphones", 189.00),
    ("linen bed set", 97.25),
)
CARRIERS = ("Northway", "ParcelJet")
TOWNS = (
    ("12 Mill Lane", "Leeds", "LS1 4AP"),
    ("7 Harbour Street", "Bristol", "BS1 5TY"),
    ("81 Queens Road", "Norwich", "NR1 3PX"),
)


class Shop:
    """The shop's state and its tools."""

    def __init__(self, orders: list[Order]) -> None:
        """The orders are this shop's own: a second play starts with a fresh shop."""
        self._orders = {order.order_id: order for order in orders}
        self._refunded: dict[str, float] = {}
        self._tools: dict[str, Callable[[Order, Arguments], dict[str, Any]]] = {
            "get_order": self._order,
            "track_parcel": self._parcel,
            "issue_refund": self._refund,
            "send_receipt": self._receipt,
            "update_address": self._address,
            "notify_carrier": self._notice,
        }

    def call(self, tool: str, arguments: Arguments) -> tuple[dict[str, Any], str | None]:
        """The tool's answer and, where it failed, the kind of error."""
        order = self._orders.get(arguments.get("order_id", ""))
        if order is None:
            return {"error": f"no order {arguments.get('order_id')}"}, "not_found"
        answer = self._tools[tool](order, arguments)
        return answer, "rejected" if "error" in answer else None

    def _order(self, order: Order, _: Arguments) -> dict[str, Any]:
        return {
            "order_id": order.order_id,
            "item": order.item,
            "status": order.status,
            "goods_total": order.goods,
            "shipping": order.shipping,
            "order_total": round(order.goods + order.shipping, 2),
            "currency": "GBP",
        }

    def _parcel(self, order: Order, _: Arguments) -> dict[str, Any]:
        return {"carrier": order.carrier, "parcel": order.parcel, "last_seen": "sorting centre"}

    def _refund(self, order: Order, arguments: Arguments) -> dict[str, Any]:
        amount = arguments.get("amount")
        if not isinstance(amount, int | float) or amount > order.goods + order.shipping + 0.005:
            return {"error": "amount must not exceed the order total"}
        self._refunded[order.order_id] = amount
        return {"refund_id": f"RF-{order.order_id[3:]}", "refunded": amount, "currency": "GBP"}

    def _receipt(self, order: Order, _: Arguments) -> dict[str, Any]:
        refunded = self._refunded.get(order.order_id)
        return {"sent_to": order.email, "amount_on_receipt": refunded}

    def _address(self, order: Order, arguments: Arguments) -> dict[str, Any]:
        street, city, postcode = (arguments.get(k) for k in ("street", "city", "postcode"))
        return {"order_id": order.order_id, "ship_to": f"{street}, {city} {postcode}"}

    def _notice(self, order: Order, arguments: Arguments) -> dict[str, Any]:
        return {"carrier": arguments.get("carrier"), "parcel": order.parcel, "accepted": True}


class Agent:
    """Serves users with the shop's tools, bent by a habit."""

    def __init__(self, shop: Shop, habit: Habit) -> None:
        """`habit` sees every call before the shop does."""
        self._shop = shop
        self._habit = habit
        self._exchange = Exchange("")

    def serve(self, user: str, plan: Callable[[Agent], str]) -> Exchange:
        """One exchange: the plan makes calls and returns the reply."""
        self._exchange = Exchange(user)
        self._exchange.reply = plan(self)
        return self._exchange

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Make one call and note it in the exchange."""
        tool, arguments = self._habit(tool, arguments)
        result, error = self._shop.call(tool, arguments)
        self._exchange.calls.append(Call(tool, arguments, result, error))
        return result


Story = Callable[[Agent, Order, random.Random], list[Exchange]]


def status_story(agent: Agent, order: Order, rng: random.Random) -> list[Exchange]:
    """Where is my order, and where is the parcel?"""

    def look(agent: Agent) -> str:
        found = agent.call("get_order", order_id=order.order_id)
        return f"Your order {order.order_id} ({found.get('item')}) is {found.get('status')}."

    def track(agent: Agent) -> str:
        seen = agent.call("track_parcel", order_id=order.order_id)
        return f"Parcel {seen.get('parcel')} travels with {seen.get('carrier')}."

    asks = ("Where is my order {0}?", "Hi, can you check on order {0} for me?")
    return [
        agent.serve(rng.choice(asks).format(order.order_id), look),
        agent.serve("And who carries the parcel?", track),
    ]


def refund_story(agent: Agent, order: Order, rng: random.Random) -> list[Exchange]:
    """A refund of the whole order, with a receipt."""

    def refund(agent: Agent) -> str:
        found = agent.call("get_order", order_id=order.order_id)
        done = agent.call(
            "issue_refund",
            order_id=order.order_id,
            amount=found.get("order_total"),
            currency="GBP",
            reason="damaged",
        )
        return f"I have refunded {done.get('refunded')} GBP for order {order.order_id}."

    def receipt(agent: Agent) -> str:
        sent = agent.call("send_receipt", order_id=order.order_id)
        return f"The receipt over {sent.get('amount_on_receipt')} GBP is on its way to you."

    asks = (
        "My {1} from order {0} arrived broken. I want all my money back, shipping included.",
        "Please refund order {0} in full, with the shipping: the {1} is damaged.",
    )
    return [
        agent.serve(rng.choice(asks).format(order.order_id, order.item), refund),
        agent.serve("Thanks. Send me the receipt, please.", receipt),
    ]


def address_story(agent: Agent, order: Order, rng: random.Random) -> list[Exchange]:
    """A new delivery address, passed on to the carrier."""
    street, city, postcode = rng.choice(TOWNS)

    def move(agent: Agent) -> str:
        agent.call("get_order", order_id=order.order_id)
        moved = agent.call(
            "update_address", order_id=order.order_id, street=street, city=city, postcode=postcode
        )
        agent.call("notify_carrier", order_id=order.order_id, carrier=order.carrier)
        return f"Done: order {order.order_id} now ships to {moved.get('ship_to')}."

    return [agent.serve(f"Ship order {order.order_id} to {street}, {city} {postcode}.", move)]


STORIES: tuple[Story, ...] = (status_story, refund_story, address_story)


def careful(tool: str, arguments: Arguments) -> tuple[str, Arguments]:
    """The habit of an agent that makes no slips."""
    return tool, arguments


def new_order(rng: random.Random) -> Order:
    """A fresh order with a number of its own."""
    item, price = rng.choice(ITEMS)
    name = rng.choice(PEOPLE)
    number = rng.randrange(10_000, 100_000)
    return Order(
        order_id=f"SO-{number}",
        customer=name,
        email=f"{name.split()[0].lower()}@example.org",
        item=item,
        goods=price,
        shipping=rng.choice((3.95, 5.50, 7.20)),
        status=rng.choice(("packed", "on its way", "delivered")),
        carrier=rng.choice(CARRIERS),
        parcel=f"PJ{number * 7:08d}",
    )
