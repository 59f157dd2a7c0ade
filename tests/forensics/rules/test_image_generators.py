"""Rules on the marks that generators leave in pictures."""

import json
import time
from pathlib import Path

import pytest

from forensix.forensics import result
from forensix.forensics.rules import ai_marks, source_types
from forensix.metadata.facts import Fact, Facts
from tests.forensics.rules.pictures import facts_of, judge, named
from tests.metadata import making_images as make

GRAPH = json.dumps({"3": {"class_type": "KSampler", "inputs": {"seed": 1}}})


PARAMETERS = "a cat\nNegative prompt: dog\nSteps: 20, Sampler: Euler a, CFG scale: 7, Seed: 1"


@pytest.mark.parametrize(
    ("keyword", "value", "identifier"),
    [
        ("parameters", PARAMETERS, "stable-diffusion"),
        ("prompt", GRAPH, "comfyui"),
        ("prompt", GRAPH.replace('"seed": 1', '"unet_name": "flux1-dev.safetensors"'), "flux"),
        ("Software", "NovelAI", "novelai"),
        ("Description", "a cat --v 6 Job ID: 01234567-89ab-cdef-0123-456789abcdef", "midjourney"),
        ("invokeai_metadata", '{"app_version": "4"}', "stable-diffusion"),
        ("use_stable_diffusion_model", "a-model-of-mine", "stable-diffusion"),
        ("Description", '{"seed": 1, "use_stable_diffusion_model": "sd-v1-5"}', "stable-diffusion-1"),
        ("Dream", '"a cat" -s 50 -W 512 -H 512 -C 7.5 -A k_lms -S 1234', "stable-diffusion"),
        ("Comment", '{"prompt": "a", "sampler": "k_euler", "seed": 1, "steps": 28}', "stable-diffusion"),
    ],
)
def test_generators_in_png_text(keyword: str, value: str, identifier: str, tmp_path: Path) -> None:
    data = make.png(make.text(keyword, value))
    actual = judge(data, tmp_path, "png")
    claim = named(actual, "The file says that it was made by artificial intelligence")
    assert claim.severity == "critical" and claim.claim.type == "ai_generated"
    assert "AI_GENERATED" in result(actual).red_flags
    assert result(actual).document_details.source == "ai_generated"
    marks = ai_marks.generator_marks(facts_of(data, tmp_path, "png"))
    assert ai_marks.generator_identifier(marks) == identifier


@pytest.mark.parametrize(
    "text",
    [
        "Steps: first, second",
        "A workflow for printing",
        '{"nodes": ["a", "b"]}',
        "The prompt was answered",
        "Fireflies at night",
        "Steps: 8042, Distance: 5 km, Schedule: daily",
        '[{"class_type": "car", "box": [1, 2, 3, 4]}]',
        "Not made with Google AI",
    ],
)
def test_plain_text_is_no_mark(text: str, tmp_path: Path) -> None:
    chunks = (make.text(keyword, text) for keyword in ("Description", "prompt", "Daydream", "Dream"))
    facts = facts_of(make.png(*chunks), tmp_path, "png")
    assert ai_marks.generator_marks(facts) == ()


@pytest.mark.parametrize(("kind", "is_mark"), [("ImageUpscaleWithModel", False), ("KSampler", True), ("Other", True)])
def test_a_graph_that_only_enlarges_a_photograph_is_no_mark(kind: str, is_mark: bool, tmp_path: Path) -> None:
    kinds = ("LoadImage", "UpscaleModelLoader", kind, "SaveImage")
    graph = json.dumps({str(i): {"class_type": k, "inputs": {}} for i, k in enumerate(kinds)})
    facts = facts_of(make.png(make.text("prompt", graph)), tmp_path, "png")
    assert bool(ai_marks.generator_marks(facts)) == is_mark


@pytest.mark.parametrize("text", ['"nodes":', "--v 1 ", "Steps: 1, ", '{"AIGC":', '"model": "a"'])
def test_texts_that_begin_a_recipe_again_and_again_take_no_time(text: str) -> None:
    facts = Facts("image", "png", tuple(Fact(f"png.text.{i}", text * 10_000, "here") for i in range(60)))
    began_s = time.process_time()
    assert ai_marks.generator_marks(facts) == ()
    assert time.process_time() - began_s < 2


@pytest.mark.parametrize(
    ("source", "claimed"),
    [("trainedAlgorithmicMedia", True), ("compositeWithTrainedAlgorithmicMedia", True), ("digitalCapture", False)],
)
def test_source_type_in_xmp(source: str, claimed: bool, tmp_path: Path) -> None:
    url = f"http://cv.iptc.org/newscodes/digitalsourcetype/{source}"
    actual = judge(make.jpeg(make.xmp_segment(make.xmp_packet(f'Iptc4xmpExt:DigitalSourceType="{url}"'))), tmp_path)
    assert any(f.claim.type == "ai_generated" for f in actual) == claimed


URL = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"
ITEMS = f"<rdf:Bag><rdf:li>digitalCapture</rdf:li><rdf:li>{URL}</rdf:li></rdf:Bag>"


@pytest.mark.parametrize(
    ("attribute", "element"),
    [
        (f" {URL}\n", ""),
        (URL.replace("http:", "https:") + "/", ""),
        ("digsrctype:trainedAlgorithmicMedia", ""),
        ("", ITEMS),
    ],
)
def test_source_types_are_read_however_they_are_written(attribute: str, element: str, tmp_path: Path) -> None:
    name = "Iptc4xmpExt:DigitalSourceType"
    packet = (
        make.xmp_packet(f'{name}="{attribute}"') if attribute else make.xmp_packet("", f"<{name}>{element}</{name}>")
    )
    facts = facts_of(make.jpeg(make.xmp_segment(packet)), tmp_path)
    assert [mark.value for mark in ai_marks.generator_marks(facts)] == ["trainedAlgorithmicMedia"]


@pytest.mark.parametrize(
    ("source", "severity", "words"),
    [
        ("composite", "suspect", "put together from several elements"),
        ("compositeSynthetic", "suspect", "put together from several elements, at least one of them synthetic"),
        ("screenCapture", "suspect", "taken from a screen"),
        ("humanEdits", "suspect", "edited by a person"),
        ("digitalCapture", "benign", "captured by a camera or recorder"),
        ("virtualRecording", "benign", "recorded in a virtual world"),
    ],
)
def test_what_a_file_says_of_how_it_came_about_is_told(source: str, severity: str, words: str, tmp_path: Path) -> None:
    url = f"http://cv.iptc.org/newscodes/digitalsourcetype/{source}"
    actual = judge(make.jpeg(make.xmp_segment(make.xmp_packet(f'Iptc4xmpExt:DigitalSourceType="{url}"'))), tmp_path)
    assert named(actual, f"The file says that its content was {words}").severity == severity


def test_what_content_credentials_say_of_what_they_were_made_from_is_not_said_of_the_file() -> None:
    row = {"source": "composite", "active": True, "placed": False, "action": "c2pa.created"}
    others = ({"active": False}, {"placed": True}, {"action": "c2pa.placed"})
    for value, n_told in ((row, 1), *(({**row, **other}, 0) for other in others)):
        facts = Facts("image", "jpeg", (Fact("c2pa.source", value, "C2PA"),))
        assert len(list(source_types.rules(facts))) == n_told


def test_recipes_in_camera_fields(tmp_path: Path) -> None:
    block = make.tiff_block([(0x010F, make.ASCII, "prompt:" + GRAPH)])
    actual = judge(make.jpeg(make.exif_segment(block)), tmp_path)
    assert any(f.claim.type == "ai_generated" for f in actual)
    assert not any(f.claim.type == "device" for f in actual)


def test_grok_signs_in_the_description(tmp_path: Path) -> None:
    block = make.tiff_block([(0x010E, make.ASCII, "Signature: " + "Ab3/" * 20)])
    facts = facts_of(make.jpeg(make.exif_segment(block)), tmp_path)
    assert ai_marks.generator_identifier(ai_marks.generator_marks(facts)) == "grok"


def graph_of(*, denoise: object, first: str = "LoadImage", custom: bool = False) -> str:
    """Return a graph of ComfyUI whose sampler goes on from what a node gives."""
    nodes = {
        "1": {"class_type": first, "inputs": {"image": "me.jpg"}},
        "2": {"class_type": "ImageScale", "inputs": {"image": ["1", 0]}},
        "3": {"class_type": "VAEEncode", "inputs": {"pixels": ["2", 0], "vae": ["9", 2]}},
        "4": {"class_type": "KSampler", "inputs": {"latent_image": ["3", 0], "denoise": denoise, "model": ["9", 0]}},
        "5": {"class_type": "LoadImage", "inputs": {"image": "pose.png"}},
        "6": {"class_type": "ControlNetApply", "inputs": {"image": ["5", 0]}},
    }
    if custom:
        nodes["4"] = {"class_type": "SamplerCustomAdvanced", "inputs": {"latent_image": ["3", 0], "sigmas": ["7", 0]}}
        nodes["7"] = {"class_type": "BasicScheduler", "inputs": {"denoise": denoise}}
    return json.dumps(nodes)


@pytest.mark.parametrize(
    ("text", "strength"),
    [
        (graph_of(denoise=0.35), "0.35"),
        (graph_of(denoise=0.6, custom=True), "0.6"),
        (graph_of(denoise=1), None),
        (graph_of(denoise=0.5, first="EmptyImage"), None),
        (graph_of(denoise=["8", 0]), None),
        (
            graph_of(denoise=0.5).replace('"image": "me.jpg"', '"image": ["2", 0]').replace('"LoadImage"', '"Other"'),
            None,
        ),
        (f"{PARAMETERS}, Denoising strength: 0.4", "0.4"),
        (f"{PARAMETERS}, Denoising strength: 0.4, Hires upscale: 2", None),
    ],
)
def test_a_picture_that_the_model_was_given_is_told_with_how_much_of_it_was_replaced(
    text: str, strength: str | None, tmp_path: Path
) -> None:
    data = make.png(make.text("prompt" if text.startswith("{") else "parameters", text))
    claim = named(judge(data, tmp_path, "png"), "The file says that it was made by artificial intelligence")
    assert claim.severity == "critical"
    words = f"made from another picture, at denoise {strength}: "
    assert (words in claim.claim.explanation) == (strength is not None)
    assert ("another picture" in claim.claim.explanation) == (strength is not None)
