"""GitHub's official OpenAPI description as a judge of requests and answers, and as a source of valid answers."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from openapi_core import OpenAPI
from openapi_core.datatypes import RequestParameters
from openapi_core.exceptions import OpenAPIError
from werkzeug.datastructures import Headers, ImmutableMultiDict

_FILE = Path(__file__).with_name("data") / "github-openapi.json"
HOST = "https://api.github.com"
_BY_FORMAT = {
    "uri": "https://example.com/x",
    "date-time": "2023-11-14T22:13:20Z",
    "date": "2023-11-14",
    "email": "a@b.c",
}


@cache
def _document() -> dict[str, Any]:
    return dict(json.loads(_FILE.read_text()))


@cache
def _api() -> OpenAPI:
    return OpenAPI.from_dict(_document())


class _Request:
    """A request as openapi-core wants it."""

    def __init__(self, method: str, path: str, query: list[tuple[str, str]], body: bytes) -> None:
        self.host_url, self.path, self.method = HOST, path, method.lower()
        self.parameters = RequestParameters(query=ImmutableMultiDict(query), header=Headers())
        self.content_type = "application/json"
        self.body = body or None


class _Response:
    def __init__(self, status: int, data: bytes) -> None:
        self.status_code, self.data = status, data
        self.headers, self.content_type = Headers(), "application/json"


def judge(
    method: str, path: str, query: list[tuple[str, str]], body: bytes, status: int, answer: bytes
) -> list[str]:
    """What is wrong with an exchange; empty when GitHub's description allows it. A refusal may break it: 422s do."""
    request = _Request(method, path, query, body)
    wrong = [f"{method} {path}: {name} is not described" for name in _undescribed(method, path, query, body)]
    try:
        if status < 400:
            _api().validate_request(request)
        _api().validate_response(request, _Response(status, answer))
    except OpenAPIError as error:
        details = list(getattr(error.__cause__, "schema_errors", []))[:2]
        wrong.append(f"{method} {path} ({status}): {error} {error.__cause__ or ''} {details}")
    return wrong


def _undescribed(method: str, path: str, query: list[tuple[str, str]], body: bytes) -> list[str]:
    """Names that were sent and that the description does not know: it allows them, GitHub ignores them."""
    operation = _document()["paths"][_template(path)][method.lower()]
    known = {resolved(p)["name"] for p in operation["parameters"]}
    found = [name for name, _ in query if name not in known]
    if body:
        schema = resolved(operation["requestBody"]["content"]["application/json"]["schema"])
        found += [name for name in json.loads(body) if name not in schema["properties"]]
    return found


def _template(path: str) -> str:
    return "/repos/{owner}/{repo}/pulls" + ("/{pull_number}" if path.rpartition("/")[2].isdigit() else "")


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        _, _, kind, name = schema["$ref"].split("/")
        schema = _document()["components"][kind][name]
    return schema


@cache
def _sample_text(name: str) -> str:
    return json.dumps(_sample({**_document()["components"]["schemas"][name], "nullable": False}))


def sample(name: str) -> dict[str, Any]:
    """A small valid value of a schema: what it requires, and nothing more."""
    return dict(json.loads(_sample_text(name)))


def _sample(schema: dict[str, Any]) -> Any:
    schema = resolved(schema)
    if schema.get("nullable"):
        return None
    if "enum" in schema:
        return schema["enum"][0]
    for many in ("allOf", "anyOf", "oneOf"):
        if many in schema:
            return _sample(schema[many][0])
    kind = schema.get("type", "object")
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: _sample(properties[name]) for name in schema.get("required", ()) if name in properties}
    simple: dict[str, Any] = {"array": [], "integer": 1, "number": 1, "boolean": False}
    return simple[kind] if kind in simple else _BY_FORMAT.get(schema.get("format", ""), "x")
