"""The service with its uploads in an object store, which goes away and comes back."""

from pathlib import Path

import fsspec
import httpx
import pytest

from forensix.client import Client
from tests.service.objects import object_store
from tests.service.running import serving
from tests.service.workshop import png


@pytest.mark.slow
def test_uploads_in_an_object_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with object_store() as store, monkeypatch.context() as patch:
        for name, value in store.environment.items():
            patch.setenv(name, value)
        with serving(tmp_path, storage_url="s3://uploads/media") as service:
            token = service.token(service.account("anna"))
            client = Client(service.base_url, token=token)
            report_id = client.create("forensic_analysis", png())
            assert client.wait("forensic_analysis", report_id).result is not None
            objects = fsspec.filesystem("s3", skip_instance_cache=True)
            assert f"uploads/media/{report_id}" in objects.ls("uploads/media", detail=False)
            assert objects.cat_file(f"uploads/media/{report_id}") == png()

            store.stop()
            answer = httpx.post(
                f"{service.base_url}/tasks/forensic_analysis",
                headers={"authorization": f"Bearer {token}"},
                files={"file": ("b.png", png(1))},
                timeout=60,
            )
            assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
            assert "storage" in answer.json()["error"]
            assert httpx.get(f"{service.base_url}/readyz", timeout=30).status_code == 503
            store.start()

            assert client.analyze("forensic_analysis", png(1)).result is not None
            service.command("account", "remove", "anna")
            objects.invalidate_cache()
            (mark,) = objects.ls("uploads/media", detail=False)
            assert mark.endswith(".mark")
