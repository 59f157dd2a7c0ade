"""Settings: read when asked, one variable each, and every one of them documented."""

import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from forensix.errors import UsageError
from forensix.service.settings import Settings

REPOSITORY = Path(__file__).resolve().parents[2]


def test_everything_lies_under_home(tmp_path: Path) -> None:
    settings = Settings.read(home=tmp_path)
    assert settings.database_url == f"sqlite:///{tmp_path}/forensix.db"
    assert settings.storage_url == f"file://{tmp_path}/files"
    assert settings.is_sqlite


def test_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORENSIX_HOME", str(tmp_path))
    monkeypatch.setenv("FORENSIX_DATABASE_URL", "postgres://anna:word@db.example:5432/forensix")
    monkeypatch.setenv("FORENSIX_PRIVATE_HOSTS", " localhost, 127.0.0.1,,")
    monkeypatch.setenv("FORENSIX_DATA_URIS", "false")
    monkeypatch.setenv("FORENSIX_LOG_LEVEL", "warning")
    monkeypatch.setenv("FORENSIX_STORAGE_URL", "")
    settings = Settings.read()
    assert settings.sqlalchemy_url.startswith("postgresql+psycopg://anna:word@db.example:5432/forensix?")
    assert settings.private_hosts == ("localhost", "127.0.0.1")
    assert (settings.data_uris, settings.log_level, settings.is_sqlite) == (False, "WARNING", False)
    assert settings.storage_url == f"file://{tmp_path}/files"
    with pytest.raises(Exception, match="frozen"):
        settings.workers = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    "url",
    [
        *("/files", "~/files", "file:///files", "file:/files", "local:///files", "gs://bucket/files"),
        *("s3://bucket/files", "simplecache::s3://bucket/files", "s3://[::1]/files"),
    ],
)
def test_storage_that_is_the_same_from_every_working_directory(tmp_path: Path, url: str) -> None:
    assert Settings.read(home=tmp_path, storage_url=url).storage_url == url


@pytest.mark.parametrize("end", ["", "?", "?tcp_user_timeout=99&connect_timeout=7", "?sslmode=require&"])
def test_what_the_url_says_of_a_connection_goes_before_what_is_usual(tmp_path: Path, end: str) -> None:
    settings = Settings.read(home=tmp_path, database_url=f"postgresql://anna:wo%3Frd@db/forensix{end}")
    assert settings.database_url.endswith(f"/forensix{end}")
    for text in (settings.connection_url, settings.sqlalchemy_url):
        url = sa.make_url(text)
        own = "=99" in end
        assert (url.database, url.password, url.query.get("sslmode")) == (
            "forensix",
            "wo?rd",
            "require" if "ssl" in end else None,
        )
        assert url.query["tcp_user_timeout"] == ("99" if own else "15000")
        assert url.query["connect_timeout"] == ("7" if own else "5")
        assert url.query["keepalives_idle"] == "10"
    embedded = Settings.read(home=tmp_path)
    assert embedded.connection_url == embedded.sqlalchemy_url == embedded.database_url


@pytest.mark.parametrize(
    "changes",
    [
        {"database_url": "sqlite://"},
        {"database_url": "sqlite:///"},
        {"database_url": "nonsense"},
        {"storage_url": "files"},
        {"storage_url": "./files"},
        {"storage_url": "file://files"},
        {"storage_url": "file:files"},
        {"storage_url": "local://../files"},
        {"storage_url": "memory://files"},
        {"workers": -1},
        {"token_days": 0},
        {"max_upload_bytes": "much"},
        {"webhook_attempts": 0},
        {"log_level": "LOUD"},
        {"analysis_s": "nan"},
        {"shutdown_s": "inf"},
        {"database_url": "sqlite:///:memory:"},
        {"database_url": "postgresql://anna:a-secret@db:port/x"},
        {"database_url": "postgresql://anna:one@a-secret@db/x"},
        {"database_url": "postgresql://anna:one@a-secret/two@db/x"},
        {"database_url": "sqlite:///forensix.db"},
        {"analysis_memory_bytes": 1},
        *({"private_hosts": host} for host in ("http://hooks", "hooks:8000", "hooks/a", "a b", "*.internal")),
        *({"proxies": proxy} for proxy in ("proxy", "10.0.0.1/8", "127.0.0.1:80")),
    ],
)
def test_values_that_cannot_be(tmp_path: Path, changes: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=f"FORENSIX_{next(iter(changes)).upper()} is not valid") as refused:
        Settings.read(home=tmp_path, **changes)
    assert "a-secret" not in str(refused.value)


def test_hosts_and_proxies_in_every_form(tmp_path: Path) -> None:
    hosts = "localhost,hooks_1.internal.,127.0.0.1,[::1],fe80::1%eth0,::ffff:10.0.0.1"
    settings = Settings.read(home=tmp_path, private_hosts=hosts, proxies="127.0.0.1,10.0.0.0/8,fd00::/8")
    assert len(settings.private_hosts) == 6 and len(settings.proxies) == 3


def test_every_setting_stands_in_the_readme() -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert [name for name in Settings.model_fields if f"`FORENSIX_{name.upper()}`" not in readme] == []


@pytest.mark.parametrize("module", ["settings", "data.database", "api.app", "server", "commands", "data.accounts"])
def test_importing_makes_and_changes_nothing(module: str, tmp_path: Path) -> None:
    code = f"import logging; import forensix.service.{module}; assert not logging.getLogger().handlers"
    env = {"FORENSIX_HOME": str(tmp_path / "home"), "PYTHONPATH": str(REPOSITORY), "FORENSIX_WORKERS": "nonsense"}
    subprocess.run([sys.executable, "-c", code], env=env, cwd=tmp_path, check=True)
    assert list(tmp_path.iterdir()) == []
