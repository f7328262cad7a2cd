"""What the chart's values.schema.json says of parameters, made of the settings themselves.

python -m tests.support.chart_schema        writes it anew, after a change of shared/settings.py
"""

import json
from typing import Any

from shared.bus.permissions import OPERATOR, SERVICES, permissions
from shared.settings import EngineSettings, Settings
from tests.support.chart import CHART

SCHEMA = CHART / "values.schema.json"
USERS = CHART / "templates" / "_nats.tpl"
AGAIN = "python -m tests.support.chart_generated"

OWNED = frozenset(
    {
        "engine_url",
        "engine_api_key",
        "engines",
        "nats_url",
        "qdrant_url",
        "qdrant_api_key",
        "keys_file",
        "embed_url",
        "embed_model",
        "embed_dim",
        "rerank_url",
        "rerank_model",
        "data_dir",
        "host",
        "port",
        "health_port",
    }
)
"""Set by the chart itself, from values of their own: addresses, ports, secrets."""


def settings_schema() -> dict[str, Any]:
    """Of the value `settings`: every other parameter, with its bounds."""
    fields = Settings.model_json_schema()["properties"]
    return _closed({name: _plain(field) for name, field in fields.items() if name not in OWNED})


def engine_schema() -> dict[str, Any]:
    """Of an item of `engines`: its key comes from a Secret instead of a variable."""
    schema = EngineSettings.model_json_schema()
    fields = {n: _plain(f) for n, f in schema["properties"].items() if n != "api_key_env"}
    fields["existingSecret"] = {"type": "string", "minLength": 1}
    fields["url"]["pattern"] = r"^https?://[^@\s]+$"
    return {**_closed(fields), "required": schema["required"]}


def _closed(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "additionalProperties": False}


def _plain(field: dict[str, Any]) -> dict[str, Any]:
    """Without its default, which the chart leaves to the settings, and without null, which unsets a value."""
    kinds = [kind for kind in field.get("anyOf", []) if kind != {"type": "null"}]
    merged = {**field, **(kinds[0] if kinds else {})}
    return {key: value for key, value in merged.items() if key not in ("anyOf", "default", "title", "format")}


def users_template() -> str:
    """The users of NATS as a named template, which the bundled chart evaluates in its own configuration."""
    users = [
        {"user": user, "password": f"<< $NATS_{user.upper()}_PASSWORD >>", "permissions": permissions(user)}
        for user in (*SERVICES, OPERATOR)
    ]
    about = f"{{{{- /* Made of shared/bus/permissions.py: {AGAIN} */}}}}"
    body = json.dumps({"users": users}, indent=2)
    return f'{about}\n{{{{- define "backscroll.natsUsers" -}}}}\n{body}\n{{{{- end -}}}}\n'


def main() -> None:
    schema = json.loads(SCHEMA.read_text())
    schema["properties"]["settings"] = settings_schema()
    schema["properties"]["engines"]["items"] = engine_schema()
    SCHEMA.write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n")
    USERS.write_text(users_template())


if __name__ == "__main__":
    main()
