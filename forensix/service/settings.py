"""What can be set, by environment variables that start with ``FORENSIX_``; read when asked, never at import."""

import ipaddress
import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlencode

import sqlalchemy as sa
from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from forensix import machine
from forensix.errors import UsageError
from forensix.folders import absolute
from forensix.media.addresses import HOST

Names = Annotated[tuple[str, ...], NoDecode]
"""Comma separated in the environment."""

# A folder, as fsspec reads it: neither a scheme of another kind nor a chain of file systems.
_LOCAL = re.compile(r"(?:(?:file|local):(?://)?)?((?!.*(?:://|::)).*)", re.DOTALL)
# A host that vanishes says nothing: without these a connection to it, and what waits for it, hangs for hours.
_LIBPQ = {
    "application_name": "forensix",
    "connect_timeout": "5",
    "keepalives": "1",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
}


class Settings(BaseSettings):
    """Everything that an operator can set. Only the two URLs must be shared by hosts that work together."""

    model_config = SettingsConfigDict(
        env_prefix="FORENSIX_", frozen=True, extra="ignore", env_ignore_empty=True, allow_inf_nan=False
    )

    home: Path = Path("~/.forensix")
    """Folder of the embedded database and of the uploads, unless the next two say otherwise."""
    database_url: str = Field(default_factory=lambda data: f"sqlite:///{data['home'] / 'forensix.db'}", repr=False)
    """``sqlite:///PATH``, an absolute one, or ``postgresql://USER:PASSWORD@HOST/NAME``."""
    storage_url: str = Field(default_factory=lambda data: f"file://{data['home'] / 'files'}", repr=False)
    """Any URL that fsspec knows: a folder, or shared storage such as ``s3://bucket/folder``."""
    private_hosts: Names = ()
    """Hosts that downloads and webhooks may reach although their addresses are private; webhooks there need no TLS."""
    workers: int = Field(default_factory=lambda: max(1, machine.cores() - 1), ge=0)
    """Processes that ``forensix serve`` starts beside the API; 0 leaves the work to ``forensix worker`` elsewhere."""
    token_days: float = Field(30, gt=0, le=3650)
    """How long a token is good for."""
    issuer: str = Field("forensix", min_length=1)
    """``issuer`` of the tokens."""
    audience: str = Field("forensix-api", min_length=1)
    """``audience`` of the tokens."""
    max_upload_bytes: int = Field(32 * 1024**2, gt=0)
    """Largest upload; 413 beyond it."""
    analysis_s: float = Field(900, gt=0)
    """Longest time for one analysis; the task fails beyond it."""
    analysis_memory_bytes: int = Field(8 * 1024**3, ge=1024**3)
    """Most memory for one analysis; the task fails beyond it. With less than the least none would succeed."""
    account_rate: int = Field(1200, ge=0)
    """Requests a minute for one account; 429 beyond it; 0 for no limit. Each API process counts for itself."""
    password_rate: int = Field(20, ge=0)
    """Wrong passwords a minute from one address; 429 beyond it; 0 for no limit."""
    queue_limit: int = Field(1000, gt=0)
    """Tasks that may wait; 503 beyond it."""
    account_queue_limit: int = Field(500, ge=0)
    """Tasks of one account that may wait; 429 beyond it, so that it leaves room to others; 0 for no limit."""
    webhooks_per_event: int = Field(20, gt=0)
    """URLs that one account may register for one event."""
    retention_uploads_h: float = Field(24, gt=0)
    """Hours that an upload is kept after its task was created."""
    retention_results_h: float = Field(24 * 30, gt=0)
    """Hours that a finished task is kept."""
    sync: bool = False
    """Bring each upload, and SQLite's row of it, to the disk before answering: then no power cut loses what was
    answered. Without it no killed process does; PostgreSQL keeps to its own settings."""
    data_uris: bool = True
    """Pictures in results as data URIs; false sends the bare base64."""
    webhook_timeout_s: float = Field(10, gt=0)
    """Longest wait for a receiver's answer."""
    webhook_attempts: int = Field(10, ge=1, le=100)
    """Attempts to deliver one result."""
    webhook_backoff_s: float = Field(10, gt=0)
    """Wait after the first failed attempt; doubled after each further one, with jitter."""
    webhook_backoff_max_s: float = Field(3600, gt=0)
    """Longest wait between two attempts."""
    poll_s: float = Field(0.1, gt=0)
    """How often a worker looks at the queue."""
    proxies: Names = ()
    """Addresses and networks of reverse proxies whose ``X-Forwarded-For`` is believed."""
    shutdown_s: float = Field(30, gt=0)
    """How long requests and analyses may go on after the signal to stop."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """Least weight of what is logged."""

    @field_validator("private_hosts", "proxies", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        if isinstance(value, str):
            value = value.split(",")
        return tuple(part.strip() for part in value if part.strip())

    @field_validator("private_hosts")
    @classmethod
    def _hosts(cls, value: Names) -> Names:
        for host in value:
            if not HOST.fullmatch(host):
                raise ValueError("give names or addresses of hosts, without scheme, port and path")
        return value

    @field_validator("proxies")
    @classmethod
    def _networks(cls, value: Names) -> Names:
        for proxy in value:
            try:
                ipaddress.ip_network(proxy)
            except ValueError:
                raise ValueError("give IP addresses or networks such as 10.0.0.0/8") from None
        return value

    @field_validator("home")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return absolute(value, "FORENSIX_HOME")

    @field_validator("log_level", mode="before")
    @classmethod
    def _upper(cls, value: Any) -> Any:
        return value.upper() if isinstance(value, str) else value

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, value: str) -> str:
        scheme, _, rest = value.partition("://")
        if scheme in ("postgresql", "postgres", "postgresql+psycopg"):
            value = f"postgresql://{rest}"
        elif scheme != "sqlite" or not rest.startswith("/") or rest == "/":
            raise ValueError("give sqlite:///PATH or postgresql://USER:PASSWORD@HOST/NAME")
        try:
            url = sa.make_url(value)
            # A password that holds "@" and "/" ends in the name of the database.
            if "@" in f"{url.host}{'' if scheme == 'sqlite' else url.database}":
                raise ValueError
        except (sa.exc.ArgumentError, ValueError):
            # Without what was said, which repeats a part of the URL.
            raise ValueError("this is no URL of a database; percent-encode what is special in a password") from None
        if scheme == "sqlite" and (url.database or "").startswith((":memory:", "file:")):
            raise ValueError("several processes share the database: give a path")
        if scheme == "sqlite" and not (url.database or "").startswith("/"):
            raise ValueError("give the database's absolute path: each process may have another working directory")
        return value

    @field_validator("storage_url")
    @classmethod
    def _absolute_folder(cls, value: str) -> str:
        local = _LOCAL.fullmatch(value)
        if local and not local[1].startswith(("/", "~")):
            raise ValueError("give the folder's absolute path: each process may have another working directory")
        if value.startswith("memory:"):
            raise ValueError("several processes share the storage: give a folder or a URL that all of them reach")
        return value

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is the embedded one."""
        return self.database_url.startswith("sqlite:")

    @property
    def shown_database(self) -> str:
        """The database's URL as it may be shown: passwords hold any character, and also stand behind the name."""
        url = sa.make_url(self.database_url)
        return str(sa.URL.create(url.drivername, host=url.host, port=url.port, database=url.database))

    @property
    def connection_url(self) -> str:
        """The database's URL, with what makes its client give up a dead connection unless it says otherwise."""
        if self.is_sqlite:
            return self.database_url
        query = sa.make_url(self.database_url).query
        more = urlencode({name: value for name, value in _LIBPQ.items() if name not in query})
        return f"{self.database_url.rstrip('?&')}{'&' if query else '?'}{more}" if more else self.database_url

    @property
    def sqlalchemy_url(self) -> str:
        """`connection_url` with the driver named."""
        return self.connection_url.replace("postgresql://", "postgresql+psycopg://", 1)

    @classmethod
    def read(cls, **changes: Any) -> Self:
        """Return the settings of the environment, with ``changes`` before them.

        Raises
        ------
        UsageError
            For the first value that is not allowed, named by its variable; the value itself is not repeated, because
            URLs hold passwords.
        """
        try:
            return cls(**changes)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            name = "_".join(str(part) for part in first["loc"][:1]).upper()
            raise UsageError(f"FORENSIX_{name} is not valid: {first['msg'].removeprefix('Value error, ')}") from None
