"""Blocking calls in threads of their own: a few at once, each for so long and no longer.

Who waits goes on at the deadline. The thread ends when its call does; until then it counts, so that
a peer that sends a byte now and then keeps a bounded number of them, and never the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from monitor.errors import BackendUnavailable

_T = TypeVar("_T")


class OwnThreads:
    """Daemons, one for each call, so that none is waited for when the process ends."""

    def __init__(self, name: str, limit: int, deadline_s: float) -> None:
        """At most `limit` run at once, those that nobody waits for any more among them."""
        self._name = name
        self._limit = limit
        self._deadline_s = deadline_s
        self._lock = threading.Lock()
        self.running = 0

    async def run(self, call: Callable[[], _T]) -> _T:
        """What `call` gives. Raises BackendUnavailable at the deadline, or with no room."""
        with self._lock:
            if self.running >= self._limit:
                what = f"the judge: {self.running} calls that are over time have not ended"
                raise BackendUnavailable(what, reached=False)
            self.running += 1
        loop = asyncio.get_running_loop()
        done: asyncio.Future[_T] = loop.create_future()
        arguments = (call, loop, done)
        threading.Thread(target=self._work, args=arguments, name=self._name, daemon=True).start()
        try:
            async with asyncio.timeout(self._deadline_s):
                return await done
        except TimeoutError:
            raise BackendUnavailable("the judge did not answer in time", "timeout") from None

    def _work(
        self, call: Callable[[], _T], loop: asyncio.AbstractEventLoop, done: asyncio.Future[_T]
    ) -> None:
        result: Any = None
        error: BaseException | None = None
        try:
            result = call()
        except BaseException as raised:  # noqa: BLE001  handed to who waits, whatever it is
            error = raised
        finally:
            with self._lock:
                self.running -= 1
        # The loop may be closed, as it is when the process has stopped meanwhile.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_tell, done, result, error)


def _tell(done: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(result)
    else:
        done.set_exception(error)
