"""One door for every detector: what it takes, that many score as one by one, and where it runs."""

import io
import wave
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch._subclasses.fake_tensor import FakeTensorMode

import forensix
from forensix.errors import InputNotFound, LimitExceeded, ModelNotFound, UnsupportedMedia, UsageError
from forensix.models import Placement, component_names, get_card, load_component, load_model, placement, save_model
from forensix.models.placement import ON_PROCESSOR, Network, choose_device, computes_halves, in_batches


@pytest.fixture(scope="module")
def pictures():
    return forensix.load_detector("forensix-image")


@pytest.fixture(scope="module")
def voices():
    return forensix.load_detector("forensix-spoof")


@pytest.fixture(scope="module")
def faces():
    return forensix.load_detector("forensix-face")


@pytest.fixture(scope="module")
def astronaut() -> np.ndarray:
    from skimage.data import astronaut

    return np.ascontiguousarray(astronaut()[:320, 80:400])


def wav(samples: np.ndarray) -> bytes:
    """Return int16 samples at 16 kHz as the bytes of a file."""
    data = io.BytesIO()
    with wave.open(data, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(samples.tobytes())
    return data.getvalue()


def noise(height: int = 90, width: int = 120, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def test_one_picture_scores_alike_however_it_is_handed_over(pictures, tmp_path: Path):
    rgb = noise()
    path = tmp_path / "noise.png"
    Image.fromarray(rgb).save(path)
    tensor = torch.from_numpy(rgb).permute(2, 0, 1)
    forms = [path, str(path), path.read_bytes(), Image.open(path), rgb, tensor, tensor.float() / 255]
    scores = [pictures.score(form) for form in forms]
    assert all(isinstance(score, float) for score in scores)
    assert scores == [scores[0]] * len(forms)
    assert pictures.score(forms) == pytest.approx(scores, abs=1e-5)


def test_a_pil_picture_that_shines_through_or_has_16_bits_scores_as_its_file(pictures, tmp_path: Path):
    rgba = np.dstack([noise(), np.tile(np.arange(120, dtype=np.uint8) * 2, (90, 1))])
    grey = noise()[..., 0].astype(np.uint16) * 257
    for name, array in (("glass.png", rgba), ("deep.png", grey)):
        Image.fromarray(array).save(tmp_path / name)
        assert pictures.score(Image.open(tmp_path / name)) == pictures.score(tmp_path / name)


def test_a_file_that_was_opened_is_one_input(pictures, voices, tmp_path: Path):
    (tmp_path / "hum.wav").write_bytes(wav((np.sin(np.arange(40_000) / 15) * 8_000).astype(np.int16)))
    Image.fromarray(noise()).save(tmp_path / "noise.png")
    for detector, name in ((pictures, "noise.png"), (voices, "hum.wav")):
        with (tmp_path / name).open("rb") as opened:
            assert detector.score(opened) == detector.score(tmp_path / name)


def test_weights_that_are_no_numbers_give_no_score(pictures, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pictures, "logits", lambda many: np.full(1, np.nan))
    with pytest.raises(UsageError, match="forensix-image gives a score that is no number"):
        pictures.score(noise())


def test_many_are_a_list_an_iterable_or_one_axis_more(pictures):
    many = np.stack([noise(seed=seed) for seed in range(3)])
    alone = [pictures.score(rgb) for rgb in many]
    for form in (list(many), iter(many), many, torch.from_numpy(many).permute(0, 3, 1, 2)):
        scores = pictures.score(form)
        assert scores.shape == (3,) and scores.dtype == np.float64
        assert scores == pytest.approx(alone, abs=1e-5)


def test_a_turned_photograph_is_looked_at_upright(pictures):
    upright = noise()
    file = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(upright).rotate(90, expand=True).save(file, "PNG", exif=exif)
    buffer = Image.open(io.BytesIO(file.getvalue()))
    assert pictures.score(buffer) == pictures.score(file.getvalue()) == pictures.score(upright)


def test_a_recording_scores_alike_however_it_is_handed_over(voices, tmp_path: Path):
    samples = (np.sin(np.arange(40_000) / 15) * 8_000).astype(np.int16)
    path = tmp_path / "hum.wav"
    path.write_bytes(wav(samples))
    measured = (samples / 32768).astype(np.float32)
    forms = [path, path.read_bytes(), measured, torch.from_numpy(measured)]
    assert voices.score(forms) == pytest.approx([voices.score(measured)] * 4, abs=1e-5)


def test_faces_of_a_picture_are_found_and_an_array_is_a_crop(faces, astronaut):
    from forensix.faces.track import track_picture

    (face,) = track_picture(astronaut)
    crop, whole = face.crops[0], faces.score(face.views)[0]
    assert faces.score(Image.fromarray(astronaut)) == pytest.approx(whole, abs=1e-6)
    both = [Image.fromarray(astronaut), crop]
    assert faces.score(both) == pytest.approx([whole, faces.score(crop)], abs=1e-6)
    with pytest.raises(UnsupportedMedia, match="no face was found"):
        faces.score(Image.fromarray(np.zeros((64, 64, 3), np.uint8)))


def test_a_picture_scores_what_an_analysis_gives_its_faces_by_themselves(faces, tmp_path: Path):
    from skimage.data import astronaut

    from forensix.faces.detect import mtcnn
    from forensix.tasks.judged_faces import faces_score, judge_faces

    # The whole astronaut, large enough that the face is looked for in fewer pixels than the picture has.
    Image.fromarray(astronaut()).resize((1400, 1400)).save(path := tmp_path / "large.png")
    with forensix.open_media(path) as media:
        judged = judge_faces(media, faces, detector=mtcnn())
    assert len(judged) == 1 and not judged[0].doubt
    assert faces.score(path) == pytest.approx(faces_score(judged), abs=1e-6)


def test_wrong_inputs_are_refused_in_a_sentence(pictures, voices, tmp_path: Path):
    for wrong in (np.zeros((9, 9), np.uint8), torch.zeros(9, 9, 3), torch.full((3, 9, 9), 2.0), None, 3):
        with pytest.raises(UsageError, match="a picture"):
            pictures.score(wrong)
    with pytest.raises(InputNotFound):
        pictures.score(tmp_path / "nowhere.png")
    with pytest.raises(UnsupportedMedia, match="not an image"):
        pictures.score(wav(np.zeros(16_000, np.int16)))
    with pytest.raises(UsageError, match="speech must be a file or"):
        voices.score([0.0, 0.5])


def test_an_object_fills_its_slot_and_says_what_it_is(pictures, tmp_path: Path):
    path = tmp_path / "noise.png"
    Image.fromarray(noise(200, 240)).save(path)
    report = forensix.analyze(path, ["ai_generated_image_detection"], image_detector=pictures)
    assert report.scores["ai_generated_image_detection"] == pytest.approx(pictures.score(path), abs=1e-6)
    assert pictures.card.name == "forensix-image" and pictures.device == torch.device("cpu")
    assert "forensix-image" in repr(pictures)


def test_a_card_in_a_folder_is_a_detector_and_a_component(tmp_path: Path):
    own = load_model("forensix-spoof")
    card = own.card.model_copy(update={"name": "my-own", "weights": "my-own.safetensors"})
    save_model(card, own.module, tmp_path)
    hum = np.sin(np.arange(20_000) / 9).astype(np.float32)
    expected = forensix.load_detector("forensix-spoof").score(hum)
    for place in (tmp_path, tmp_path / "my-own.json", str(tmp_path)):
        assert forensix.load_detector(place).score(hum) == expected
    assert load_component("spoof", str(tmp_path)).card.name == "my-own"
    with pytest.raises(UsageError, match="my-own is a spoof, not an image_detector"):
        load_component("image_detector", str(tmp_path))
    (tmp_path / "second.json").write_text("{}")
    with pytest.raises(ModelNotFound, match="2 cards and not one"):
        forensix.load_detector(tmp_path)
    with pytest.raises(ModelNotFound, match="is no card of a model: name"):
        forensix.load_detector(tmp_path / "second.json")


def test_a_model_that_takes_the_place_of_another_is_loaded_anew(tmp_path: Path):
    own = load_model("forensix-spoof")
    for intercept in (1.0, 2.0):
        calibration = own.card.calibration.model_copy(update={"intercept": intercept})
        save_model(own.card.model_copy(update={"name": "my-own", "calibration": calibration}), own.module, tmp_path)
        assert load_component("spoof", str(tmp_path)).card.calibration.intercept == intercept
    assert load_component("spoof", str(tmp_path)) is load_component("spoof", str(tmp_path))


def test_names_are_those_of_the_models():
    assert {"forensix-spoof", "aasist", "aasist-l"} <= set(component_names("spoof"))
    with pytest.raises(ModelNotFound, match="forensix-image"):
        forensix.load_detector("nonesuch")
    with pytest.raises(UsageError, match="tells no fake from real"):
        forensix.load_detector("forensix-gender")


class Tight(torch.nn.Module):
    """A network on a device that holds ``most`` inputs."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most, self.seen = most, []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.append(len(x))
        if len(x) > self.most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return x.sum(1)


def test_out_of_memory_halves_the_batch_and_goes_on():
    network = Network(Tight(3), batch_size=16)
    network.move(Placement(batch_size=16))
    x = torch.arange(40.0).reshape(20, 2)
    (actual,) = network(x)
    assert actual.tolist() == x.sum(1).tolist()
    assert network.module.seen == [16, 8, 4, 2, *[2] * 9] and network.batch_size == 2
    network(x)
    assert set(network.module.seen[-10:]) == {2}
    with pytest.raises(LimitExceeded, match="one input alone needs more memory than the device has"):
        Network(Tight(0), batch_size=4)(x)


def test_the_processor_takes_few_at_once_unless_it_is_told_how_many(monkeypatch: pytest.MonkeyPatch):
    network = Network(Tight(100), batch_size=32)
    x = torch.arange(40.0).reshape(20, 2)
    network(x)
    assert network.module.seen == [*[ON_PROCESSOR] * (20 // ON_PROCESSOR), 20 % ON_PROCESSOR]
    # The windows of a picture are not torn apart.
    assert get_card("forensix-image").preprocessing["most_windows"] <= ON_PROCESSOR
    network.move(Placement(batch_size=20))
    network(x)
    assert network.module.seen[-1] == network.batch_size == 20
    monkeypatch.setattr(placement, "choose_device", torch.device)
    network.move(Placement("cuda"))
    assert network.batch_size == 32


def test_other_errors_of_a_network_are_not_taken_for_that():
    def broken(start: int, stop: int) -> None:
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes do not match"):
        in_batches(broken, 4, 2)


def test_batches_of_any_size_give_the_same_scores(pictures):
    many = [noise(240 + 40 * seed, 300, seed) for seed in range(4)]
    one_by_one = forensix.load_detector("forensix-image", batch_size=1)
    assert one_by_one.batch_size == 1
    assert one_by_one.score(many) == pytest.approx(pictures.score(many), abs=1e-5)


@pytest.mark.slow
@pytest.mark.usefixtures("sixteen_bits")
def test_half_precision_is_close(voices):
    # With noise, as recordings have it: a spectrogram that is black but for a line is less alike in 16 bits.
    noisy = np.random.default_rng(0).normal(0, 0.1, 20_000)
    hum = [(np.sin(np.arange(20_000) / pitch) + noisy).astype(np.float32) for pitch in (9, 30)]
    halved = forensix.load_detector("forensix-spoof", half=True)
    assert halved.logits(hum) == pytest.approx(voices.logits(hum), abs=0.15)
    assert (halved.logits(hum) != voices.logits(hum)).any()
    assert halved.elsewhere == "half" and not voices.elsewhere


def test_a_processor_that_does_not_compute_with_16_bits_is_one_sentence(monkeypatch):
    computes_halves.cache_clear()
    monkeypatch.setattr(placement, "_HALF_PRODUCT", "import os; os.abort()")
    with pytest.raises(UsageError, match="processor does not compute with 16 bits: leave half=True out"):
        forensix.load_detector("forensix-spoof", half=True)
    computes_halves.cache_clear()


def test_a_device_that_is_not_there_is_one_sentence():
    with pytest.raises(UsageError, match="there is no device 'abacus': name 'auto', 'cpu'"):
        forensix.load_detector("forensix-image", device="abacus")
    with pytest.raises(UsageError, match="no device 'meta' that torch can compute on"):
        choose_device("meta")
    assert choose_device("auto").type in ("cpu", "cuda", "mps")
    for wrong in (0, -1, 2.5, True, "8"):
        with pytest.raises(UsageError, match="batch_size is a whole number from 1 up"):
            Placement(batch_size=wrong)


SHAPES = pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("forensix-image", (5, 3, 224, 224)),
        ("forensix-face", (5, 3, 224, 224)),
        ("forensix-spoof", (5, 64_000)),
        ("aasist", (5, 64_600)),
    ],
)


def fresh(name: str) -> torch.nn.Module:
    from importlib import import_module

    card = get_card(name)
    return import_module(f"forensix.models.architectures.{card.architecture}").build(**card.config)


def moved(module: torch.nn.Module, mode: FakeTensorMode) -> torch.nn.Module:
    """Torch's fake tensors keep the device of a real CUDA tensor and refuse to mix two: no numbers, no GPU."""
    module._apply(lambda t: mode.from_tensor(t).to("cuda"))
    assert all(t.device.type == "cuda" for t in (*module.parameters(), *module.buffers()))
    return module


@SHAPES
def test_nothing_of_a_network_stays_behind_when_it_moves(name: str, shape: tuple[int, ...], monkeypatch):
    monkeypatch.setattr(torch.__future__, "_overwrite_module_params_on_conversion", True)
    module = fresh(name)
    with FakeTensorMode() as mode:
        network = Network(moved(module, mode), batch_size=2)
        network.device = torch.device("cuda")
        outputs = network(mode.from_tensor(torch.zeros(shape)))
        assert all(len(out) == 5 and out.device.type == "cpu" for out in outputs)


@SHAPES
def test_nothing_of_a_network_that_learns_stays_behind_either(name: str, shape: tuple[int, ...], monkeypatch):
    monkeypatch.setattr(torch.__future__, "_overwrite_module_params_on_conversion", True)
    module = fresh(name)
    with FakeTensorMode() as mode:
        network = moved(module, mode).train()
        outputs = network(mode.from_tensor(torch.zeros(shape)).to("cuda"))
        all_of_them = outputs if isinstance(outputs, tuple) else (outputs,)
        assert all(len(out) == 5 and out.device.type == "cuda" for out in all_of_them)
