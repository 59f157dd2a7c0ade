"""What generators and platforms write down of a picture, a video or a recording: recipes, credits, labels.

A recipe holds the settings by which a user interface had something made, and mostly the name of the checkpoint. A label
says that something was generated, or that it may have been.
"""

import json
import re

from forensix.forensics.generators import by_credit, by_model

STEPS, SETTING = re.compile(r"\bSteps: \d+, "), re.compile(r"\b(Sampler|CFG scale|Seed|Schedule(r| type)): ")
UNO = re.compile(r"^prompt='.{0,4000}', seed=\d+, width=\d+, height=\d+, guidance=.{1,20}, num_steps=\d+", re.DOTALL)
DREAM = re.compile(r'^".{0,4000}" -s ?\d+ .{0,200}?-[WS] ?\d', re.DOTALL)
EASY = re.compile(r'"use_stable_diffusion_model"\s*:')
JOB, SWITCH = re.compile(r"Job ID: [0-9a-f-]{36}"), re.compile(r"--(v|niji|ar|style|chaos|stylize) \S")
IN_GRAPH = re.compile(r'"(inputs|nodes)"\s*:')
NODE = re.compile(r'"class_type"\s*:\s*"|"(KSampler|CheckpointLoader|VAEDecode|UNETLoader|CLIPTextEncode)')
CLASS_TYPE = re.compile(r'"class_type"\s*:\s*"([^"]{0,200})"')
EDITING_NODES = {
    "GetImageSize", "ImageBatch", "ImageBlend", "ImageBlur", "ImageCompositeMasked", "ImageCrop", "ImageFlip",
    "ImageInvert", "ImageQuantize", "ImageRotate", "ImageScale", "ImageScaleBy", "ImageScaleToMaxDimension",
    "ImageScaleToTotalPixels", "ImageSharpen", "ImageUpscaleWithModel", "LoadImage", "LoadImageMask",
    "LoadImageOutput", "PreviewImage", "SaveImage", "UpscaleModelLoader",
}  # fmt: skip
"""Nodes of ComfyUI that load, change, enlarge and save pictures, and generate none."""

PICTURE_INPUTS = ("latent_image", "samples", "pixels", "image", "images", "latent")
"""What the inputs of ComfyUI's nodes are called that take a picture, or a picture as the model keeps it."""

DENOISING = re.compile(r"\bDenoising strength: ([\d.]{1,20})")
HIRES = re.compile(r"\bHires \w")
"""Of the web interface of Stable Diffusion: beside these settings the picture that it went on from is its own."""

RECIPES = (
    ((JOB, SWITCH), "midjourney"),
    ((UNO,), "uno"),
    ((DREAM,), "stable-diffusion"),
    ((EASY,), "stable-diffusion"),
    ((NODE, IN_GRAPH), "comfyui"),
    ((STEPS, SETTING), "stable-diffusion"),
)
"""What user interfaces write of their own work, all of it in one text, with the generator that it means where it names
no checkpoint. Parts are looked for apart, since hostile texts begin many times what never ends."""

GOOGLE = re.compile(r"\W*(made|edited) with google ai\b", re.IGNORECASE)
MADE_WITH = re.compile(r"^(made|created|generated) (with|by|using|in) .{2,80}$", re.IGNORECASE)
LABEL = re.compile(r'"Label"\s*:\s*"?(\d)')
"""The label of the Chinese standard GB 45438: 1 for what was generated, 2 for what may have been, 3 for a suspicion."""

PLATFORM_LABEL = re.compile(r'"aigc_label_type"\s*:\s*"?[1-9]')
"""TikTok and CapCut write this field into everything, with 0 where nobody labelled it."""

JSON_MARKS = ('"sui_image_params"', '"AIGC"', '"sampler"', '"aigc_')
_FILES = re.compile(r'"([^"\\/]{1,200}\.(?:safetensors|ckpt|gguf|sft))\\?"', re.IGNORECASE)
CHECKPOINTS = (
    re.compile(
        r'\\?"(?:[a-z_]{0,20}(?:ckpt|unet|checkpoint|gguf|base_model|diffusion_model)[a-z_]{0,20}'
        r'|model|model_name|model_weights|model_id|sd_model_name)\\?"\s*:\s*\\?"([^"\\]{1,200})'
    ),
    re.compile(r"\b(?:Base )?Model: ([^,\n]{1,200})"),
    _FILES,
    re.compile(r'"generation_mode"\s*:\s*"([^"]{1,40})"'),
)
"""Where recipes name the checkpoint, the most telling first."""

BESIDE = re.compile(r"vae|clip|t5|lora|encoder|upscal|esrgan|controlnet|text_enc|vl_\d", re.IGNORECASE)
"""Files that stand beside a checkpoint and serve several."""


def recipe(text: str) -> str | None:
    """Return the generator whose recipe a text is, ``None`` where it is none."""
    found = next((name for parts, name in RECIPES if all(part.search(text) for part in parts)), None)
    nodes = set(CLASS_TYPE.findall(text)) if found == "comfyui" else set()
    return None if nodes and nodes <= EDITING_NODES else found


def from_a_picture(text: str) -> float | None:
    """Return how much of another picture a recipe replaced by noise before the model went on from it, from 0 to 1.

    ``None`` where the recipe begins with noise alone, or does not say.

    >>> from_a_picture("a cat\\nSteps: 20, Sampler: Euler a, Seed: 1, Denoising strength: 0.35")
    0.35
    """
    said = DENOISING.search(text) if STEPS.search(text) else None
    if said is not None and not HIRES.search(text):
        return _strength(said[1])
    if not NODE.search(text) or not IN_GRAPH.search(text):
        return None
    try:
        graph = json.loads(text)
    except (ValueError, RecursionError):
        return None
    nodes = graph if isinstance(graph, dict) else {}
    inputs = {
        key: node["inputs"]
        for key, node in nodes.items()
        if isinstance(node, dict) and isinstance(node.get("inputs"), dict)
    }
    reached: set[str] = set()
    for own in inputs.values():
        strength = _strength(own.get("denoise", inputs.get(_link(own.get("sigmas")), {}).get("denoise")))
        if strength is not None and _leads_to_a_picture(_link(own.get("latent_image")), nodes, inputs, reached):
            return strength
    return None


def _leads_to_a_picture(
    start: str, nodes: dict[str, dict[str, object]], inputs: dict[str, dict[str, object]], reached: set[str]
) -> bool:
    """Tell whether a picture was loaded for what a node gives; nodes that were ``reached`` are not looked at again."""
    rest = [start]
    while rest:
        key = rest.pop()
        if key in inputs and key not in reached:
            reached.add(key)
            if str(nodes[key].get("class_type")).startswith("LoadImage"):
                return True
            rest += [_link(inputs[key].get(name)) for name in PICTURE_INPUTS]
    return False


def _link(value: object) -> str:
    """Return the node that an input comes from."""
    return str(value[0]) if isinstance(value, list) and value else ""


def _strength(value: object) -> float | None:
    """Return a strength that leaves something of a picture and changes something, ``None`` for any other value."""
    try:
        number = float(value) if isinstance(value, int | float | str) else 1.0
    except ValueError:
        return None
    return number if 0 < number < 1 else None


def checkpoint(text: str) -> str | None:
    """Return the generator whose checkpoint a recipe names."""
    for pattern in CHECKPOINTS:
        names = (name for name in pattern.findall(text) if pattern is not _FILES or not BESIDE.search(name))
        if (first := next((row for name in names if (row := by_model(name)) is not None), None)) is not None:
            return first.identifier
    return None


def is_labelled(text: str) -> bool:
    """Tell whether a label says that something was generated, and not that it may have been."""
    label = LABEL.search(text)
    return label is None or label[1] == "1"


def is_supposed(text: str) -> bool:
    """Tell whether a label says that something may have been generated."""
    label = LABEL.search(text)
    return label is not None and label[1] in "23"


def is_recipe(name: str, text: str) -> bool:
    """Tell whether a text, of a field by that name, is what a generator or a platform writes of something generated."""
    if recipe(text) is not None:
        return True
    # "Made with such a program by somebody" is cut before who.
    if MADE_WITH.match(text.strip()) and (by_credit(text) or by_credit(text.partition(" by ")[0])):
        return True
    if GOOGLE.match(text) or re.search(r'"genAIType":\s*[1-9]', text):
        return True
    if name in ("Title", "title") and text.strip() == "AI generated image":
        return True
    if text.lstrip().startswith("{") and any(mark in text for mark in JSON_MARKS):
        try:
            keys = set(json.loads(text))
        except (ValueError, RecursionError):
            return False
        if keys & {"aigc_info", "aigc_label_type"}:
            return PLATFORM_LABEL.search(text) is not None
        return (
            "sui_image_params" in keys
            or ("AIGC" in keys and is_labelled(text))
            or {"sampler", "seed", "prompt"} <= keys
            or {"steps", "sampler", "seed"} <= keys
        )
    return False
