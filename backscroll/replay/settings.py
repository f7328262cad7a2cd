"""Settings of one's own: `NAME=VALUE` on the command line."""

import json
from collections.abc import Iterable
from typing import Any

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
