"""Sweeping expired items, by call or from time to time."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Final

from langgraph.store.base import TTLConfig

from indelible import Collection
from indelible.errors import InvalidInput

_DEFAULT_MINUTES: Final = 5.0


class Sweeping:
    """The sweeper's verbs. Expired items are hidden from the moment they expire; sweeping only says so in their history."""

    ttl_config: TTLConfig | None
    _collection: Collection
    _sweeper: threading.Thread | None = None
    _stop: threading.Event

    def sweep_ttl(self) -> int:
        """Append a deletion to the history of every item that has expired.

        Returns:
            How many.
        """
        return self._collection.forget_expired()

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Future[None]:
        """Sweep from time to time, in a thread that does not keep the process alive.

        Args:
            sweep_interval_minutes: how often; when omitted, as configured, else every five minutes.

        Returns:
            Done when the sweeper has stopped, with its error if it failed; cancelling it stops the sweeper.
        """
        minutes = sweep_interval_minutes or (self.ttl_config or {}).get("sweep_interval_minutes") or _DEFAULT_MINUTES
        if minutes <= 0:
            raise InvalidInput(f"the sweep interval must be above 0 minutes, got {minutes!r}")
        self.stop_ttl_sweeper()
        done: Future[None] = Future()
        stop = self._stop = threading.Event()
        done.add_done_callback(lambda future: stop.set())
        self._sweeper = threading.Thread(target=self._sweep_until, args=(stop, minutes * 60, done), name="indelible-sweeper", daemon=True)
        self._sweeper.start()
        return done

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop the sweeper.

        Args:
            timeout: seconds to wait for a sweep under way; ``None`` until it ends.

        Returns:
            Whether it has stopped, or none was running.
        """
        sweeper = self._sweeper
        if sweeper is None:
            return True
        self._stop.set()
        sweeper.join(timeout)
        if sweeper.is_alive():
            return False
        self._sweeper = None
        return True

    def _sweep_until(self, stop: threading.Event, seconds: float, done: Future[None]) -> None:
        try:
            while not stop.wait(seconds):
                self.sweep_ttl()
        except Exception as error:
            if done.set_running_or_notify_cancel():
                done.set_exception(error)
            return
        if done.set_running_or_notify_cancel():
            done.set_result(None)
