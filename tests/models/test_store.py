"""Weights are used only when they are exactly what the card describes."""

import hashlib
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch

from forensix.calibration import Calibration
from forensix.errors import MissingExtra, ModelError, ModelNotFound, UsageError, WeightsMismatch, WeightsMissing
from forensix.models import (
    Measurement,
    ModelCard,
    Output,
    list_models,
    load_component,
    load_model,
    pull_model,
    registry,
    save_model,
    store,
)


def test_cards_draw_themselves_as_a_short_table() -> None:
    cards = list_models()
    drawn = repr(cards).splitlines()
    assert [line.split()[:2] for line in drawn] == [[card.name, card.component] for card in cards]
    assert cards._repr_html_().count("<tr>") == len(cards) + 1 and cards == tuple(cards)


def test_a_machine_that_torch_cannot_use_is_no_fault_of_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("Failed to initialize cpuinfo!")

    monkeypatch.setattr("torch.Tensor.copy_", fail)
    with pytest.raises(ModelError, match=r"Failed to initialize cpuinfo, which it looks for in /proc") as refused:
        load_model("forensix-face")
    assert not isinstance(refused.value, WeightsMismatch)


def test_cards_of_a_slot_that_there_is_not() -> None:
    assert {card.component for card in list_models("spoof")} == {"spoof"}
    with pytest.raises(UsageError, match=r"no model fills a slot named 'spooof'; there are: .*spoof"):
        list_models("spooof")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one saved model, in place of the shipped ones."""
    monkeypatch.setattr(store, "SHIPPED", tmp_path)
    monkeypatch.setattr(store.importlib, "import_module", lambda name: torch.nn.modules.linear)
    monkeypatch.setattr(torch.nn.modules.linear, "build", torch.nn.Linear, raising=False)
    card = ModelCard(
        name="small",
        component="spoof",
        summary="a line",
        architecture="linear",
        config={"in_features": 3, "out_features": 1},
        output=Output(labels=("fake",), fake=0),
        calibration=Calibration(slope=1, intercept=0),
        limits="everything",
        licence="Apache-2.0",
        weights="small.safetensors",
        sha256="",
    )
    save_model(card, torch.nn.Linear(3, 1), tmp_path)
    store._cards.cache_clear()
    yield tmp_path
    store._cards.cache_clear()


def test_nothing_is_written_among_the_shipped_models_unless_it_is_said(own: Path) -> None:
    with pytest.raises(TypeError, match="folder"):
        save_model(store.get_card("small"), torch.nn.Linear(3, 1))  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="folder"):
        store.write_card(store.get_card("small"))  # type: ignore[call-arg]


def test_a_package_that_is_missing_is_named_and_the_file_not_blamed(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (own / "small.h5").write_bytes(b"of Keras")
    changes = {"weights": "small.h5", "sha256": store.sha256_of(own / "small.h5")}
    store.write_card(store.get_card("small").model_copy(update=changes), own)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtra, match=r"h5py: pip install 'forensix\[zoo\]'"):
        load_model("small")


def test_what_was_saved_is_loaded(own: Path) -> None:
    loaded = load_model("small")
    assert loaded.card.n_parameters == 4
    assert loaded.card.sha256 == hashlib.sha256((own / "small.safetensors").read_bytes()).hexdigest()
    assert not loaded.module.training


def test_loading_a_model_draws_no_random_numbers() -> None:
    shipped = [card.name for card in list_models() if (store.SHIPPED / card.weights).is_file()]
    assert "forensix-face" in shipped
    before = torch.get_rng_state()
    for name in shipped:
        load_model(name)
        assert torch.equal(torch.get_rng_state(), before), name


def test_a_changed_byte_is_refused(own: Path) -> None:
    path = own / "small.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(WeightsMismatch, match="sha256"):
        load_model("small")


def test_a_missing_or_spare_key_is_refused(own: Path) -> None:
    from safetensors.torch import save_file

    path = own / "small.safetensors"
    save_file({"weight": torch.zeros(1, 3)}, path)
    card = store.get_card("small").model_copy(update={"sha256": hashlib.sha256(path.read_bytes()).hexdigest()})
    store.write_card(card, own)
    with pytest.raises(WeightsMismatch, match="bias"):
        load_model("small")


def test_weights_of_another_network_are_refused_in_one_line(own: Path) -> None:
    from safetensors.torch import save_file

    path = own / "small.safetensors"
    save_file({f"of.another.{i}": torch.zeros(1) for i in range(200)}, path)
    card = store.get_card("small").model_copy(update={"sha256": hashlib.sha256(path.read_bytes()).hexdigest()})
    store.write_card(card, own)
    with pytest.raises(WeightsMismatch, match="does not fit") as refused:
        load_model("small")
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 400


@pytest.mark.parametrize(
    ("name", "changes", "sentence"),
    [
        ("cut.safetensors", {}, "does not fit linear: SafetensorError"),
        ("cut.h5", {}, "does not fit linear: OSError"),
        ("small.safetensors", {"config": {"sides": 3}}, "does not fit linear: TypeError"),
    ],
)
def test_damaged_weights_and_wrong_cards_are_one_sentence(
    own: Path, name: str, changes: dict[str, Any], sentence: str
) -> None:
    if "cut" in name:
        (own / name).write_bytes(b"\x89HDF\r\n")
    changes = {"weights": name, "sha256": store.sha256_of(own / name)} | changes
    store.write_card(store.get_card("small").model_copy(update=changes), own)
    with pytest.raises(WeightsMismatch, match=sentence):
        load_model("small")


def test_an_architecture_or_a_label_that_there_is_not_is_one_sentence(own: Path) -> None:
    for changes, sentence in (
        ({"architecture": "nonesuch"}, "the unknown architecture 'nonesuch'"),
        ({"output": {"labels": ["fake"], "fake": 1}}, "places of the 1 labels"),
    ):
        record = json.loads((own / "small.json").read_text()) | changes
        (own / "mine").mkdir(exist_ok=True)
        (own / "mine" / "mine.json").write_text(json.dumps(record))
        (own / "mine" / "small.safetensors").write_bytes((own / "small.safetensors").read_bytes())
        with pytest.MonkeyPatch.context() as unpatched, pytest.raises(ModelNotFound, match=sentence):
            unpatched.setattr(store.importlib, "import_module", import_module)
            load_model(str(own / "mine"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
@pytest.mark.filterwarnings("ignore:.torch.jit:FutureWarning")  # of torch 2.14 on
def test_code_in_a_file_of_weights_is_not_run(own: Path) -> None:
    (own / "mine").mkdir()
    path, mark = own / "mine" / "mine.pt", own / "it ran"

    class Saving(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(1, 3))
            self.where: str = str(mark)

        @torch.jit.export
        def __getstate__(self) -> tuple[torch.Tensor, str, bool]:
            return self.weight, self.where, self.training

        @torch.jit.export
        def __setstate__(self, state: tuple[torch.Tensor, str, bool]) -> None:
            self.weight, self.where, self.training = state
            torch.save(self.weight, self.where)

    torch.jit.script(Saving()).save(path)
    changes = {"name": "mine", "weights": path.name, "sha256": store.sha256_of(path)}
    store.write_card(store.get_card("small").model_copy(update=changes), path.parent)
    mark.unlink(missing_ok=True)
    with pytest.raises(WeightsMismatch, match="it holds more than weights, and what it would run is not run"):
        load_model(str(path.parent))
    assert not mark.exists()
    store.read_state(path, scripted=True)
    assert mark.exists(), "the file would have run something"


def test_missing_weights_name_the_remedy(own: Path) -> None:
    (own / "small.safetensors").unlink()
    with pytest.raises(WeightsMissing, match="reinstall"):
        load_model("small")
    card = store.get_card("small").model_copy(update={"url": "https://example.org/small"})
    store.write_card(card, own)
    with pytest.raises(WeightsMissing, match="forensix models pull small"):
        load_model("small")


def test_unknown_names_list_the_known() -> None:
    with pytest.raises(ModelNotFound, match="forensix-spoof"):
        load_model("nonesuch")
    with pytest.raises(ModelNotFound, match="forensix-spoof"):
        load_component("spoof", "nonesuch")


def test_a_pulled_checkpoint_must_have_the_cards_hash(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    sha256 = hashlib.sha256(b"weights").hexdigest()
    card = store.get_card("small").model_copy(update={"url": served, "weights": "other.pth", "sha256": sha256})
    store.write_card(card, own)
    path = pull_model("small")
    assert path.read_bytes() == b"weights"
    path.unlink()
    store.write_card(card.model_copy(update={"sha256": "0" * 64}), own)
    with pytest.raises(WeightsMismatch, match="is not the file"):
        pull_model("small")
    assert not list(path.parent.iterdir())


@pytest.fixture
def served() -> str:
    """The address of a local server that answers with the bytes ``weights``."""
    import http.server
    import threading

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"weights")

        def log_message(self, *args: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/other.pth"
        server.shutdown()


def test_shipped_models_load_and_stay_small() -> None:
    shipped = [card for card in list_models() if (store.SHIPPED / card.weights).is_file()]
    assert {card.component for card in shipped} >= {
        "face_classifier",
        "image_detector",
        "attribution",
        "spoof",
        "gender",
    }
    for card in shipped:
        assert load_model(card.name).card == card
        assert card.trained_on
        assert card.measured
        assert card.command
        assert card.seed is not None
    assert sum((store.SHIPPED / card.weights).stat().st_size for card in shipped) < 40e6


def test_an_object_fills_a_slot_as_it_is() -> None:
    thing = object()
    assert load_component("spoof", thing) is thing


def test_built_components_are_kept() -> None:
    registry._build.cache_clear()
    assert load_component("spoof", "forensix-spoof") is load_component("spoof", "forensix-spoof")


def test_an_interval_that_could_not_be_drawn_is_none() -> None:
    figures = {"metric": "AUC", "value": 0.5, "data": "two files of one person", "command": "a command"}
    assert Measurement(**figures, interval=(float("nan"), float("nan"))).interval is None
    assert Measurement(**figures, interval=(0.25, 0.75)).interval == (0.25, 0.75)


def test_half_precision_is_stored_for_matrices_only_and_the_module_is_left_as_it_ships(own: Path) -> None:
    card = store.get_card("small").model_copy(update={"name": "halved", "weights": "halved.safetensors"})
    module = torch.nn.Linear(3, 1)
    with torch.no_grad():
        module.weight.fill_(0.1)
        module.bias.fill_(0.1)
    save_model(card, module, own, half=True)
    remaining = load_model("halved").module.state_dict()
    assert remaining["weight"].dtype == torch.float32 and remaining["weight"][0, 0] == torch.tensor(0.1).half().float()
    assert remaining["bias"][0] == torch.tensor(0.1)
    torch.testing.assert_close(module.state_dict(), remaining, rtol=0, atol=0)


def test_the_threshold_lies_in_the_inconclusive_band(own: Path) -> None:
    record = store.get_card("small").model_dump() | {"inconclusive": (0.6, 0.9)}
    with pytest.raises(ValueError, match="must lie in the inconclusive band"):
        ModelCard.model_validate(record)
    assert ModelCard.model_validate(record | {"threshold": 0.7}).inconclusive == (0.6, 0.9)
    of_videos = record | {"threshold": 0.7, "inconclusive_video": (0.0, 0.5)}
    assert ModelCard.model_validate(of_videos).inconclusive_video == (0.0, 0.5), "videos have a bound of their own"
    for band in ((0.9, 0.5), (0.0, 1.5)):
        with pytest.raises(ValueError, match="must rise from 0 to 1"):
            ModelCard.model_validate(of_videos | {"inconclusive_video": band})
