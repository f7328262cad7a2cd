"""What every message on the bus has in common."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Contract(BaseModel):
    """Frozen; unknown fields are ignored, so that services of two versions can talk during an upgrade."""

    model_config = ConfigDict(frozen=True, ser_json_bytes="base64", val_json_bytes="base64")


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Kind(StrEnum):
    """What a structural unit is."""

    USER = "user"
    ANSWER = "answer"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
