"""The published detectors: ports that do what their authors' code does, fed as they feed it, and read the right way."""

import numpy as np
import pytest
import torch

from forensix.errors import UsageError, WeightsMismatch
from forensix.faces.classify import detector_of
from forensix.models import get_card, list_models, load_model, store
from forensix.models.feeding import KEYS, fed
from forensix.models.registry import READERS
from tests.models import zoo

PUBLISHED = [card for card in list_models() if card.url and card.component in READERS]


@pytest.mark.parametrize("name", sorted(zoo.SMALL))
def test_a_port_gives_the_logit_of_the_authors_code(name: str) -> None:
    if get_card(name).component == "spoof" and get_card(name).architecture != "aasist":
        pytest.importorskip("transformers")
    assert zoo.detector(name).logits([zoo.given(name)])[0] == pytest.approx(zoo.expected()[name], abs=1e-4)


def test_every_parity_on_a_card_is_tested() -> None:
    output = {card.name for card in PUBLISHED if card.parity}
    same = {(get_card(name).architecture, str(get_card(name).preprocessing)) for name in zoo.SMALL}
    for name in output - set(zoo.SMALL) - {n for n in output if n.startswith("meso")}:
        assert (get_card(name).architecture, str(get_card(name).preprocessing)) in same, name
    assert all(card.parity.error <= 1e-4 for card in PUBLISHED if card.parity)


@pytest.mark.parametrize("card", PUBLISHED, ids=lambda card: card.name)
def test_a_card_says_how_to_feed_it_how_to_read_it_and_who_may_use_it(card) -> None:
    assert card.licence and card.limits and card.paper
    fake, real = card.output.fake, card.output.real
    assert fake is None or any(word in card.output.labels[fake] for word in ("fake", "spoof"))
    assert real is None or any(word in card.output.labels[real] for word in ("real", "bona fide"))
    assert (fake, real) != (None, None)
    assert len(card.sha256) == 64 or (card.sha256 == "" and card.hash_from == "nobody")
    if card.component != "spoof":
        assert set(card.preprocessing) <= KEYS


def test_a_step_that_there_is_not_is_refused_and_not_left_out() -> None:
    model = zoo.detector("corvi2023")
    model.card = model.card.model_copy(update={"preprocessing": {**model.card.preprocessing, "resise": 224}})
    with pytest.raises(UsageError, match="has no resise; it has: area, crop"):
        model.score(zoo.given("corvi2023"))


@pytest.mark.parametrize("name", ["corvi2023", "commfor-384", "dda"])
def test_a_checkpoint_with_another_key_is_refused(name: str, tmp_path) -> None:
    card = get_card(name)
    wrapped = card.architecture != "commfor"
    state = zoo.network(name).state_dict()
    small = card.model_copy(update={"config": card.config | zoo.SMALL[name], "weights": "w.pth", "name": "small"})
    for extra, missing in (({"spare.weight": torch.zeros(1)}, None), ({}, next(iter(state)))):
        remaining = {key: value for key, value in state.items() if key != missing} | extra
        torch.save({"model": remaining} if wrapped else remaining, tmp_path / "w.pth")
        right = small.model_copy(update={"sha256": store.sha256_of(tmp_path / "w.pth")})
        store.write_card(right, tmp_path)
        with pytest.raises(WeightsMismatch, match="does not fit"):
            load_model(tmp_path)
    torch.save({"model": state} if wrapped else state, tmp_path / "w.pth")
    store.write_card(small.model_copy(update={"sha256": store.sha256_of(tmp_path / "w.pth")}), tmp_path)
    assert load_model(tmp_path).card.name == "small"


def test_pictures_of_any_size_and_several_at_once_go_through_a_network_of_fixed_size() -> None:
    detector = zoo.detector("commfor-384")
    pictures = [zoo.picture(*size) for size in ((500, 460), (40, 30), (300, 900))]
    alone = [detector.score(rgb) for rgb in pictures]
    assert detector.score(pictures) == pytest.approx(alone, abs=1e-5) and len(set(alone)) == 3


def test_a_network_that_takes_any_size_gets_each_picture_whole() -> None:
    detector = zoo.detector("corvi2023")
    pictures = [zoo.picture(64, 48), zoo.picture(48, 64), zoo.picture(64, 48, seed=3)]
    assert detector.score(pictures) == pytest.approx([detector.score(rgb) for rgb in pictures], abs=1e-5)


@pytest.mark.parametrize("name", sorted(name for name in zoo.expected() if name.startswith("meso")))
def test_mesonet_gives_its_authors_outputs_and_calls_the_forged_fake(checkpoints, name: str) -> None:
    pytest.importorskip("h5py")
    model = load_model(name, folder=checkpoints / "mesonet")
    pixels = np.stack([zoo.picture(256, 256, 1), np.full((256, 256, 3), 128, np.uint8)]).astype(np.float32) / 255
    with torch.inference_mode():
        outputs = model.module(torch.from_numpy(pixels).permute(0, 3, 1, 2))
    assert outputs.flatten().tolist() == pytest.approx(zoo.expected()[name], abs=1e-4)
    # They are higher for real, a score is higher for fake.
    detector = detector_of(model)
    crops = np.stack([zoo.crop(), np.full((224, 224, 3), 128, np.uint8)])
    observed = torch.cat([fed(crop, model.card.preprocessing) for crop in crops])
    with torch.inference_mode():
        assert detector.logits(crops) == pytest.approx((-model.module(observed)).flatten().numpy(), abs=1e-5)
