"""Reading fields of a parsed body; what is wrong or has no counterpart is named."""

from collections.abc import Iterator
from typing import Any

from shared.errors import InvalidRequest

Object = dict[str, Any]


def untranslatable(where: str, what: str) -> InvalidRequest:
    return InvalidRequest(f"'{where}': {what} The engine serves Chat Completions only.", where)


def an_object(value: object, where: str) -> Object:
    if not isinstance(value, dict):
        raise InvalidRequest(f"'{where}' must be an object.", where)
    return value


def a_string(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise InvalidRequest(f"'{where}' must be a string.", where)
    return value


def objects(value: object, where: str) -> Iterator[tuple[Object, str]]:
    """The items of a list, each with its name."""
    if not isinstance(value, list):
        raise InvalidRequest(f"'{where}' must be a list.", where)
    for index, item in enumerate(value):
        name = f"{where}[{index}]"
        yield an_object(item, name), name


def given(**fields: object) -> Object:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}
