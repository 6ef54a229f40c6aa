"""Requests to a forge: with the token, at its pace, and with its refusals in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from stackmerge.errors import StackmergeError
from stackmerge.forge.pace import LONGEST, Pace, asked_to_wait
from stackmerge.forge.token import Token, safe_for

_TRIES = 4
_MAX_WORDS = 300


class Refused(StackmergeError):
    """The forge said no. ``status`` is that of the answer."""

    def __init__(self, message: str, hint: str, status: int) -> None:
        super().__init__(message, hint)
        self.status = status


class Http:
    """Speaks JSON with one forge. ``api`` is the address that every path is below."""

    def __init__(
        self,
        api: str,
        token: Token,
        headers: Mapping[str, str],
        tell: Callable[[str], None],
        pace: Pace | None = None,
    ) -> None:
        if not safe_for(api):
            raise StackmergeError(
                f"a token is not sent to {api}, which has no TLS", "use https in `publish.api`"
            )
        self._token = token
        self._tell = tell
        self._pace = pace or Pace(tell)
        self._client = httpx.Client(
            base_url=api, headers=dict(headers), timeout=httpx.Timeout(60.0, connect=20.0), trust_env=True
        )
        self._host = self._client.base_url.host

    def close(self) -> None:
        self._client.close()

    def get(self, path: str, **params: str | int) -> Any:
        """The JSON at ``path``; None where there is nothing (404)."""
        try:
            return self._ask("GET", path, params=params)
        except Refused as error:
            if error.status == 404:
                return None
            raise

    def send(self, method: str, path: str, fields: Mapping[str, object]) -> Any:
        """Write, and the JSON of the answer. A POST is never repeated unless it was refused for its pace."""
        return self._ask(method, path, content=fields)

    def _ask(
        self, method: str, path: str, params: Mapping[str, str | int] | None = None, content: object = None
    ) -> Any:
        for attempt in range(_TRIES):
            if method != "GET":
                self._pace.before_write()
            answer = self._once(method, path, params, content, attempt)
            if answer is None:
                continue
            wait = asked_to_wait(answer.status_code, answer.headers, answer.text, attempt, self._pace.now())
            if wait is not None and attempt + 1 < _TRIES:
                self._too_long(wait)
                self._pace.wait(wait, f"{self._host} limits the rate of requests")
            elif answer.status_code >= 500 and method != "POST" and attempt + 1 < _TRIES:
                self._pace.wait(2.0**attempt, f"{self._host} answered {answer.status_code}")
            else:
                return self._read(method, path, answer)
        raise StackmergeError(
            f"{self._host} cannot be reached", "run it again: what is done is not done twice"
        )

    def _once(
        self, method: str, path: str, params: Mapping[str, str | int] | None, content: object, attempt: int
    ) -> httpx.Response | None:
        """One request; None where it failed on the way and may be tried again."""
        try:
            headers = {"content-type": "application/json"} if content is not None else {}
            data = json.dumps(content).encode() if content is not None else None
            return self._client.request(method, path, params=params, content=data, headers=headers)
        except httpx.HTTPError as error:
            if method == "POST" or attempt + 1 == _TRIES:
                words = self._token.hidden(in_words(error))
                hint = "run it again: what is done is not done twice"
                raise StackmergeError(f"{self._host} cannot be reached ({words})", hint) from None
            self._pace.wait(0.5 * 2**attempt, f"{self._host} did not answer")
            return None

    def _too_long(self, wait: float) -> None:
        if wait > LONGEST:
            raise StackmergeError(
                f"{self._host} allows nothing for {wait / 60:.0f} minutes", "run it again then"
            )

    def _read(self, method: str, path: str, answer: httpx.Response) -> Any:
        if answer.is_success:
            try:
                return answer.json() if answer.content else None
            except ValueError:
                raise StackmergeError(f"{self._host} answered {method} {path} with no JSON", "") from None
        words = self._token.hidden(said(answer))
        raise Refused(
            f"{self._host} refused {method} {path}: {words}", _hint(answer.status_code), answer.status_code
        )


def in_words(error: httpx.HTTPError) -> str:
    """Why a request failed. What was wrong with the request itself is not told: it may quote a header."""
    words = "" if isinstance(error, httpx.LocalProtocolError) else str(error)
    return words or type(error).__name__


def said(answer: httpx.Response) -> str:
    """A forge's refusal in its own words."""
    try:
        found = answer.json()
    except ValueError:
        found = None
    if not isinstance(found, dict):
        return f"status {answer.status_code}"
    words = [str(found.get("message") or found.get("error") or f"status {answer.status_code}")]
    details = found.get("errors")
    for one in details if isinstance(details, list) else []:
        words.append(str(one.get("message") or one.get("code") or one) if isinstance(one, dict) else str(one))
    return "; ".join(words)[:_MAX_WORDS]


def _hint(status: int) -> str:
    hints = {
        301: "was the repository renamed? name it in `publish.repository`",
        401: "the token is not valid (any more)",
        403: "may the token write pull requests of this repository?",
        404: "is it the right repository, and may the token read it?",
    }
    return hints.get(status, "")
