"""The table of generators: what names are recognised, and which product a marked file is put down to."""

import json
import re
from pathlib import Path

import pytest

from forensix.forensics.generators import by_model, by_program, generators
from forensix.forensics.rules.provenance import generator_identifier, generator_marks, is_partial
from forensix.media import open_media
from forensix.metadata.facts import Fact, Facts
from forensix.metadata.reader import read_facts
from forensix.models import get_card


def test_the_table_holds_at_least_fifty_makers_of_pictures():
    rows = generators()
    identifiers = [row.identifier for row in rows]
    assert len(set(identifiers)) == len(identifiers) and sum(row.media == "image" for row in rows) >= 50
    for row in rows:
        assert re.fullmatch(r"[a-z0-9][a-z0-9_-]*", row.identifier) and row.media in ("image", "video", "audio")
        assert not any(pattern and pattern.search("") for pattern in (row.program, row.model, row.signer)), row


def test_whatever_the_attribution_of_pixels_answers_is_in_the_table():
    labels = set(get_card("forensix-attribution").output.labels)
    assert labels <= {row.identifier for row in generators()} | {"unknown"}


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("Midjourney v6", "midjourney"),
        ("Adobe_Firefly", "firefly"),
        ("DALL·E 3", "dall-e-3"),
        ("Microsoft Designer", "dall-e-3"),
        ("OpenAI Sora", "sora"),
        ("GPT-4o", "gpt-4o"),
        ("gpt-image-1", "gpt-image"),
        ("Nano Banana", "gemini"),
        ("Google Imagen 4", "imagen"),
        ("Made with Google AI", "google-ai"),
        ("AI generated;txt2img;flux", "flux"),
        ("Stable Diffusion XL", "sdxl"),
        ("Stable Diffusion 3.5", "stable-diffusion-3"),
        ("Stable Diffusion", "stable-diffusion"),
        ("NovelAI", "novelai"),
        ("recraft.ai", "recraft"),
        ("Ideogram AI", "ideogram"),
        ("Jimeng", "seedream"),
        ("Qwen-Image", "qwen-image"),
        ("Wan2.1", "wan"),
        ("thispersondoesnotexist.com", "stylegan2"),
    ],
)
def test_programs_are_known_by_what_they_write(text: str, identifier: str):
    assert by_program(text).identifier == identifier


@pytest.mark.parametrize(
    "text",
    ["NIKON D850", "Google", "Pixel 9", "HDR+ 1.0", "Adobe Photoshop 26.9", "Muse", "Leonardo", "Canva", "UNO",
     "Samsung", "Luma", "Runner", "Sana", "Janus", "Google C2PA Core Generator Library", "iPhone 16 Pro", "Lumina"],
)  # fmt: skip
def test_cameras_and_editors_are_no_generators(text: str):
    assert by_program(text) is None


@pytest.mark.parametrize(
    ("name", "identifier"),
    [
        ("v1-5-pruned-emaonly.safetensors", "stable-diffusion-1"),
        ("sd-v1-4.ckpt", "stable-diffusion-1"),
        ("realisticVisionV60B1_v51VAE.safetensors", "stable-diffusion-1"),
        ("v2-1_768-ema-pruned.ckpt", "stable-diffusion-2"),
        ("sd_xl_base_1.0.safetensors", "sdxl"),
        ("juggernautXL_v9Rundiffusion.safetensors", "sdxl"),
        ("ponyDiffusionV6XL.safetensors", "sdxl"),
        ("sd3.5_large_turbo.safetensors", "stable-diffusion-3"),
        ("stable_cascade_stage_c.safetensors", "stable-cascade"),
        ("flux1-dev-Q8_0.gguf", "flux"),
        ("flux2_dev_fp8mixed.safetensors", "flux"),
        ("qwen_image_fp8_e4m3fn.safetensors", "qwen-image"),
        ("z_image_turbo_bf16.safetensors", "z-image"),
        ("hidream_i1_full_fp16.safetensors", "hidream"),
        ("PixArt-Sigma-XL-2-1024-MS.pth", "pixart"),
        ("hunyuan_dit_1.2.safetensors", "hunyuan-image"),
        ("hunyuan_video_t2v_720p_bf16.safetensors", "hunyuan-video"),
        ("wan2.1_i2v_480p_14B_fp16.safetensors", "wan"),
        ("kandinsky-2-2-decoder", "kandinsky"),
        ("stable-diffusion-xl-base-1.0", "sdxl"),
        ("chroma-unlocked-v37.safetensors", "chroma"),
    ],
)
def test_checkpoints_are_known_by_their_names(name: str, identifier: str):
    assert by_model(name).identifier == identifier


@pytest.mark.parametrize(
    "name", ["ae.safetensors", "clip_l.safetensors", "4x_UltraSharp.pth", "umt5_xxl_fp8.safetensors"]
)
def test_what_stands_beside_a_checkpoint_names_nobody(name: str):
    assert by_model(name) is None


def named(*facts: Fact) -> str | None:
    marks = generator_marks(Facts("image", "png", items=facts))
    assert marks, "no mark"
    return generator_identifier(marks)


STEPS = "a cat in flux, midjourney style\nSteps: 20, Sampler: Euler a, CFG scale: 7, Seed: 1, Size: 512x512"


@pytest.mark.parametrize(
    ("key", "value", "identifier"),
    [
        ("png.text.parameters", STEPS, "stable-diffusion"),
        ("exif.UserComment", f"{STEPS}, Model: sd_xl_base_1.0, Version: v1.9", "sdxl"),
        ("png.text.prompt", {"1": {"class_type": "KSampler", "inputs": {"text": "midjourney style"}}}, "comfyui"),
        (
            "png.text.prompt",
            {
                "1": {"class_type": "VAELoader", "inputs": {"vae_name": "wan_2.1_vae.safetensors"}},
                "2": {"class_type": "UNETLoader", "inputs": {"unet_name": "qwen_image_bf16.safetensors"}},
            },
            "qwen-image",
        ),
        ("png.text.invokeai_metadata", {"generation_mode": "sdxl_txt2img", "seed": 1}, "sdxl"),
        ("png.text.sui_image_params", {"sui_image_params": {"model": "flux1-schnell"}}, "flux"),
        ("png.text.Source", "NovelAI Diffusion V4 79F47848", "novelai"),
        ("exif.Software", "AI generated;txt2img;flux", "flux"),
        ("exif.Make", "Black Forest Labs", "flux"),
        ("exif.UserComment", "Made with OpenAI Labs", "dall-e-2"),
        ("exif.ImageDescription", "prompt='a cup', seed=1, width=512, height=512, guidance=4, num_steps=25", "uno"),
        ("png.text.AIGC", {"Label": "1", "ContentProducer": "001191110102MACQD9K64010000"}, "seedream"),
        ("png.text.AIGC", {"Label": "1", "ContentProducer": "somebody"}, None),
        ("xmp.xmp.CreatorTool", "Midjourney 6.1", "midjourney"),
        ("xmp.photoshop.Credit", "Made with Google AI", "google-ai"),
        ("iptc.source_type", "trainedAlgorithmicMedia", None),
    ],
)
def test_a_marked_file_is_put_down_to_what_its_marks_name(key: str, value: object, identifier: str | None):
    text = value if isinstance(value, str) else json.dumps(value)
    assert named(Fact(key, text, "here")) == identifier


def source(**more: object) -> Fact:
    fields = {
        "source": "trainedAlgorithmicMedia",
        "action": "c2pa.created",
        "agent": "",
        "generator": "",
        "issuer": None,
    }
    return Fact("c2pa.source", fields | more, "C2PA")


def test_credentials_are_put_down_to_the_agent_before_the_program_before_the_signer():
    assert named(source(agent="GPT-4o", generator="ChatGPT", issuer="OpenAI")) == "gpt-4o"
    assert named(source(generator="ChatGPT", issuer="OpenAI")) == "gpt-image"
    assert named(source(generator="Google C2PA Core Generator Library 1", issuer="Google LLC")) == "google-ai"
    assert named(source(generator="c2pa-rs 0.3", issuer="Canva")) == "canva"
    assert named(source(generator="c2pa-rs 0.3", issuer="Nobody Inc.")) is None


def test_a_camera_that_signs_with_the_same_library_is_not_marked():
    camera = source(source="computationalCapture", generator="Google C2PA Core Generator Library", issuer="Google LLC")
    assert generator_marks(Facts("image", "jpeg", items=(camera,))) == ()


def test_a_checkpoint_says_more_than_the_program_that_ran_it():
    recipe = Fact("png.text.parameters", f"{STEPS}, Model: v1-5-pruned", "here")
    assert named(Fact("png.text.Software", "Stable Diffusion web UI", "there"), recipe) == "stable-diffusion-1"


def test_a_retouched_picture_is_partial():
    composite = source(source="compositeWithTrainedAlgorithmicMedia", agent="Adobe Firefly")
    assert is_partial([composite]) and not is_partial([composite, source()]) and not is_partial([])


def test_a_generated_part_in_a_signed_composite_is_partial():
    placed = source(agent="Adobe Firefly", active=False)
    newest = source(source="compositeWithTrainedAlgorithmicMedia", agent="Adobe Firefly", active=True)
    assert is_partial([newest, placed]) and not is_partial([source(active=True), placed])


CORPUS = {
    "image/0021_Firefly_tabby_cat.jpg": "firefly",
    "image/0085_ocsp.jpg": "firefly",
    "image/0098_model_merging_3_checkpoints.png": "stable-diffusion-1",
    "image/0099_sd3_simple_example.png": "stable-diffusion-3",
    "image/0108_image_to_video_wan_example.webp": "wan",
    "image/0113_flux_kontext_example_comic.webp": "flux",
    "image/0174_invokeai_imeta1.png": "sdxl",
    "image/0192_text_after_idat.png": "stable-diffusion-1",
    "image/0222_unclip_2pass_cropped.png": "stable-diffusion-2",
    "image/0374_ChatGPT_Image.png": "gpt-4o",
    "pdf/0236_pdf-file.pdf": "firefly",
}


@pytest.mark.slow
@pytest.mark.parametrize("path", CORPUS)
def test_real_files_name_their_generator(path: str, corpora: Path):
    with open_media(corpora / "forensics" / path) as media:
        assert generator_identifier(generator_marks(read_facts(media))) == CORPUS[path]
