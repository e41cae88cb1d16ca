"""What other threads ask of the writer, carried out by it between two batches."""

from __future__ import annotations

import queue
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Orders:
    """A queue of things to do on the writer's thread."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = (
            queue.SimpleQueue()
        )

    def ask(self, order: Callable[[], T]) -> Future[T]:
        """From any thread: its result, once the writer has carried it out."""
        answer: Future[T] = Future()
        self._waiting.put((order, answer))
        return answer

    def carry_out(self) -> None:
        """Do what waits. What one order raises goes to who asked, and to nobody else."""
        while not self._waiting.empty():
            order, answer = self._waiting.get()
            if not answer.set_running_or_notify_cancel():
                continue
            try:
                answer.set_result(order())
            except Exception as error:  # noqa: BLE001  handed on whole
                answer.set_exception(error)
