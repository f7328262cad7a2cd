"""Settings of one's own: `NAME=VALUE` on the command line."""

import json
from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError

from shared.errors import PermanentFault
from shared.settings import Settings


def values_of(pairs: Iterable[str]) -> dict[str, Any]:
    """A value is JSON where it can be read as such, else the text itself. Raises `PermanentFault`."""
    found = {}
    for pair in pairs:
        name, given, value = pair.partition("=")
        if not given or name not in Settings.model_fields:
            raise PermanentFault(f"--setting {pair}: a setting's name, '=', and its value are wanted")
        try:
            found[name] = json.loads(value)
        except json.JSONDecodeError:
            found[name] = value
    return found


def changed(settings: Settings, values: dict[str, Any]) -> Settings | None:
    """None where nothing is changed. Raises `PermanentFault` for a value that a setting does not take."""
    if not values:
        return None
    try:
        return Settings(**{**dict(settings), **values})
    except ValidationError as error:
        first = error.errors()[0]
        raise PermanentFault(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
