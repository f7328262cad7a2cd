"""The file of `tool_policies`: a table for each tool or pattern."""

import tomllib
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from shared.errors import PermanentFault
from shared.prompt.toolresult import ToolPolicies, ToolPolicy

_file = TypeAdapter(dict[str, ToolPolicy])


def read_policies(path: Path | None) -> ToolPolicies:
    """Raises `PermanentFault` that names what is wrong: a policy that is ignored would go unseen."""
    if path is None:
        return {}
    try:
        return _file.validate_python(tomllib.loads(path.read_text()))
    except (OSError, UnicodeDecodeError) as error:
        raise PermanentFault(f"{path} cannot be read: {type(error).__name__}") from error
    except tomllib.TOMLDecodeError as error:
        raise PermanentFault(f"{path} is no TOML: {error}") from error
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise PermanentFault(f"{path}: {wrong}") from error
