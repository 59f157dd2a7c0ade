"""Classifiers of the hub: labels by their names, fed by what comes with them, refused when the names do not tell."""

from pathlib import Path

import numpy as np
import pytest
import torch

import forensix
from forensix.errors import ModelNotFound, UsageError, WeightsMismatch
from forensix.models import hub, load_component
from forensix.models.hub import outputs_of
from tests.models.zoo import picture, sound

transformers = pytest.importorskip("transformers")


@pytest.mark.parametrize(
    ("labels", "fake"),
    [
        (("artificial", "human"), 0),
        (("real", "fake"), 1),
        (("Real", "Deepfake"), 1),
        (("AI-generated", "hum"), 0),
        (("bona-fide", "spoof"), 1),
    ],
)
def test_labels_are_told_by_name(labels: tuple[str, str], fake: int) -> None:
    actual = outputs_of(dict(enumerate(labels)), "a/b")
    assert (actual.fake, actual.real, actual.labels) == (fake, 1 - fake, labels)


@pytest.mark.parametrize(
    "labels", [("LABEL_0", "LABEL_1"), ("fake", "synthetic"), ("cat", "real"), ("real", "fake", "unknown"), ("fake",)]
)
def test_names_that_do_not_tell_are_refused(labels: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="do not tell which one means fake"):
        outputs_of(dict(enumerate(labels)), "a/b")


def saved_pictures(folder: Path, labels: dict[int, str]) -> "torch.nn.Module":
    config = transformers.ViTConfig(
        hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, image_size=32, patch_size=8,
        id2label=labels, label2id={name: i for i, name in labels.items()},
    )  # fmt: skip
    torch.manual_seed(0)
    network = transformers.ViTForImageClassification(config).eval()
    network.save_pretrained(folder)
    transformers.ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    return network


def test_a_classifier_of_pictures_scores_as_it_does_by_itself(tmp_path: Path) -> None:
    network = saved_pictures(tmp_path, {0: "artificial", 1: "human"})
    detector = forensix.load_detector(tmp_path, batch_size=2)
    pictures = [picture(60, 80, seed) for seed in range(3)]
    processor = transformers.AutoImageProcessor.from_pretrained(tmp_path)
    from PIL import Image

    with torch.inference_mode():
        outputs = network(**processor(images=[Image.fromarray(rgb) for rgb in pictures], return_tensors="pt")).logits
    assert detector.score(pictures) == pytest.approx(outputs.softmax(1)[:, 0].numpy(), abs=1e-5)
    assert detector.card.component == "image_detector" and detector.card.output.labels == ("artificial", "human")
    assert load_component("image_detector", str(tmp_path)).card == detector.card
    with pytest.raises(UsageError, match="is an image_detector, not a spoof"):
        load_component("spoof", str(tmp_path))


def test_a_folder_with_labels_that_do_not_tell_or_other_weights_is_refused(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    saved_pictures(tmp_path / "a", {0: "LABEL_0", 1: "LABEL_1"})
    with pytest.raises(UsageError, match="do not tell"):
        forensix.load_detector(tmp_path / "a")
    saved_pictures(tmp_path / "b", {0: "fake", 1: "real"})
    state = load_file(tmp_path / "b" / "model.safetensors")
    del state["classifier.weight"]
    save_file(state, tmp_path / "b" / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(WeightsMismatch, match="missing_keys"):
        forensix.load_detector(tmp_path / "b")


def test_a_classifier_of_sound_scores_as_it_does_by_itself(tmp_path: Path) -> None:
    config = transformers.Wav2Vec2Config(
        hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, conv_dim=(16, 16),
        conv_stride=(10, 8), conv_kernel=(10, 8), num_feat_extract_layers=2, num_conv_pos_embeddings=16,
        num_conv_pos_embedding_groups=2, classifier_proj_size=16, id2label={0: "real", 1: "fake"},
        label2id={"real": 0, "fake": 1},
    )  # fmt: skip
    torch.manual_seed(0)
    network = transformers.Wav2Vec2ForSequenceClassification(config).eval()
    network.save_pretrained(tmp_path)
    transformers.Wav2Vec2FeatureExtractor(do_normalize=True).save_pretrained(tmp_path)
    detector = forensix.load_detector(tmp_path)
    samples = sound(40_000)
    extractor = transformers.AutoFeatureExtractor.from_pretrained(tmp_path)
    with torch.inference_mode():
        outputs = network(**extractor(samples, sampling_rate=16_000, return_tensors="pt")).logits
    assert detector.score(samples) == pytest.approx(float(outputs.softmax(1)[0, 1]), abs=1e-5)
    assert np.isfinite(detector.score(sound(400_000)))


def test_an_id_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(ModelNotFound, match="nobody/nothing could not be loaded from the hub"):
        forensix.load_detector("nobody/nothing")


def test_a_gated_one_asks_for_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    def gated(*_: object, **__: object) -> None:
        raise OSError("You are trying to access a gated repo.\nMake sure to have access to it.")

    monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", gated)
    with pytest.raises(ModelNotFound, match="accept their terms and set HF_TOKEN"):
        forensix.load_detector("somebody/gated")


def test_it_is_no_member_of_an_ensemble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved_pictures(tmp_path / "net", {0: "real", 1: "fake"})
    monkeypatch.setattr("forensix.training.own.combine.measured_on", lambda *_: pytest.fail("it was measured"))
    members, task = ["forensix-image", tmp_path / "net"], "ai_generated_image_detection"
    with pytest.raises(UsageError, match="net comes from transformers without a card to keep"):
        forensix.combine(members, forensix.small.folder("images"), task, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_fails_without_a_word_is_told_of_by_its_kind() -> None:
    class Silent:
        @staticmethod
        def from_pretrained(*_: object, **__: object) -> None:
            raise OSError

    with pytest.raises(ModelNotFound, match="a/b could not be loaded from the hub: OSError"):
        hub._fetched(Silent, "a/b")
