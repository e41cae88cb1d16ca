"""A table of the file, and the kinds of values that settings have."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Bytes = Annotated[int, Field(ge=1)]
Unit = Annotated[float, Field(ge=0, le=1)]
Address = Annotated[str, Field(pattern=r"^(\[[0-9a-fA-F:]+\]|[^:\s]+):\d{1,5}$")]


class Section(BaseModel):
    """A table of the file; frozen, and strict about its keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)
