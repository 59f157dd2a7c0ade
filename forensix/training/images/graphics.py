"""Pages, charts, drawings and screens, drawn by code: pictures that neither a camera nor a generator made.

A detector that learnt photographs alone calls a form or an icon generated, for a generator's smooth surfaces are
nearest to them. These are in training on the side of photographs, in every fold; what they are worth is measured on
graphics that others made (``benchmarks/generated_graphics.py``).
"""

import io
import itertools
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from forensix.synthetic.crops import RGB

Colour = tuple[int, int, int]
WHITE, BLACK = (255, 255, 255), (0, 0, 0)
_FINE = 3
"""Drawings are drawn so many times larger and scaled down, which smooths their edges."""
_LETTERS = list("etaoinshrdlucmfwypvbgk")
_FONTS = ("DejaVuSans", "DejaVuSans-Bold", "DejaVuSerif", "DejaVuSerif-Bold", "DejaVuSansMono", "STIXGeneral")
_MAPS = ("viridis", "magma", "coolwarm", "Greys", "tab20", "Blues")


def _words(rng: np.random.Generator, n: int) -> str:
    words = ["".join(rng.choice(_LETTERS, int(rng.integers(2, 10)))) for _ in range(n)]
    for at in np.flatnonzero(rng.random(n) < 0.15):
        words[at] = str(int(rng.integers(0, 10 ** int(rng.integers(1, 6)))))
    return " ".join(words)


def _font(rng: np.random.Generator, size_px: int) -> ImageFont.FreeTypeFont:
    name = _FONTS[int(rng.integers(len(_FONTS)))]
    return ImageFont.truetype(str(Path(mpl.get_data_path()) / "fonts" / "ttf" / f"{name}.ttf"), size_px)


def _colour(rng: np.random.Generator, least: int = 0, most: int = 255) -> Colour:
    red, green, blue = rng.integers(least, most + 1, 3).tolist()
    return red, green, blue


def _size(rng: np.random.Generator, least: int = 300, most: int = 1400) -> tuple[int, int]:
    width, height = np.exp(rng.uniform(np.log(least), np.log(most), 2)).astype(int).tolist()
    return width, height


def _gradient(size: tuple[int, int], start: Colour, end: Colour, *, across: bool) -> Image.Image:
    ramp = Image.linear_gradient("L").resize(size)
    if across:
        ramp = Image.linear_gradient("L").rotate(90).resize(size)
    return Image.composite(Image.new("RGB", size, end), Image.new("RGB", size, start), ramp)


def page(rng: np.random.Generator) -> Image.Image:
    """Return a document: headings, paragraphs, rules, tables and boxes to fill in."""
    width, height = _size(rng, 400)
    dark = rng.random() < 0.15
    paper = _colour(rng, 0, 50) if dark else WHITE if rng.random() < 0.7 else _colour(rng, 225)
    ink = _colour(rng, 200) if dark else BLACK if rng.random() < 0.6 else _colour(rng, 0, 110)
    image = Image.new("RGB", (width, height), paper)
    pen = ImageDraw.Draw(image)
    if rng.random() < 0.2:
        pen.fontmode = "1"
    size_px = int(rng.integers(9, 26))
    font, margin, y = _font(rng, size_px), int(width * rng.uniform(0.03, 0.12)), int(height * rng.uniform(0.02, 0.12))
    line = int(size_px * rng.uniform(1.2, 1.9))
    while y < height - margin:
        kind = rng.random()
        if kind < 0.15:
            pen.text((margin, y), _words(rng, 4), ink, _font(rng, int(size_px * rng.uniform(1.3, 2.4))))
            y += 2 * line
        elif kind < 0.65:
            for _ in range(int(rng.integers(1, 9))):
                pen.text((margin, y), _words(rng, max(1, (width - 2 * margin) // (4 * size_px))), ink, font)
                y += line
        elif kind < 0.75:
            pen.line((margin, y, width - margin, y), ink, int(rng.integers(1, 4)))
            y += line // 2
        else:
            y = _table(pen, rng, (margin, y, width - margin, height), line, font, ink)
        y += int(line * rng.uniform(0.3, 2.5))
    return image


def _table(
    pen: ImageDraw.ImageDraw,
    rng: np.random.Generator,
    box: tuple[int, int, int, int],
    line: int,
    font: ImageFont.FreeTypeFont,
    ink: Colour,
) -> int:
    left, top, right, bottom = box
    columns, rows, is_filled = int(rng.integers(1, 5)), int(rng.integers(1, 7)), rng.random() < 0.6
    edges = np.linspace(left, right, columns + 1).astype(int).tolist()
    for _ in range(rows):
        if top + line > bottom:
            break
        for start, end in itertools.pairwise(edges):
            pen.rectangle((start, top, end, top + line), outline=ink, width=int(rng.integers(1, 3)))
            if is_filled:
                pen.text((start + 4, top + 2), _words(rng, 1), ink, font)
        top += line
    return top


def _share(colour: Colour) -> tuple[float, float, float]:
    red, green, blue = (value / 255 for value in colour)
    return red, green, blue


def chart(rng: np.random.Generator) -> Image.Image:
    """Return a plot of numbers drawn at random."""
    width, height = _size(rng, 300, 1200)
    figure = Figure(figsize=(width / 100, height / 100), dpi=100)
    canvas, axes = FigureCanvasAgg(figure), figure.add_subplot()
    kind, n = int(rng.integers(6)), int(rng.integers(3, 60))
    colours = [_share(_colour(rng)) for _ in range(5)]
    if kind == 0:
        for colour in colours[: int(rng.integers(1, 5))]:
            axes.plot(rng.normal(size=n).cumsum(), color=colour, linewidth=float(rng.uniform(0.5, 4)))
    elif kind == 1:
        axes.bar(np.arange(n), rng.random(n), color=colours[0])
    elif kind == 2:
        x, y = rng.normal(size=(2, n * 4))
        axes.scatter(x, y, float(rng.uniform(4, 200)), color=colours[0], alpha=0.7)
    elif kind == 3:
        axes.pie(rng.random(min(n, 8)) + 0.1)
    elif kind == 4:
        axes.imshow(rng.normal(size=(n, n)).cumsum(0), cmap=str(rng.choice(_MAPS)), interpolation="nearest")
    else:
        x, y = np.meshgrid(*np.linspace(-2, 2, 60)[None].repeat(2, 0))
        axes.contourf(np.sin(x * rng.uniform(0, 3)) + np.cos(y * x), cmap=str(rng.choice(_MAPS)), levels=n // 3 + 2)
    axes.grid(bool(rng.random() < 0.4))
    axes.set_title(_words(rng, 3))
    if rng.random() < 0.3:
        figure.set_facecolor(colours[4])
    if rng.random() < 0.3:
        axes.set_axis_off()
    canvas.draw()  # type: ignore[no-untyped-call]
    return Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])  # type: ignore[no-untyped-call]


def _points(places: NDArray[np.float64]) -> list[tuple[float, float]]:
    return [(x, y) for x, y in places.tolist()]


def _blob(rng: np.random.Generator, centre: tuple[float, float], radius: float) -> list[tuple[float, float]]:
    """Return a smooth closed outline about a point."""
    angles = np.linspace(0, 2 * np.pi, 90, endpoint=False)
    radii = np.ones_like(angles)
    for order in range(1, 7):
        radii += rng.normal() * 0.25 / order * np.cos(order * angles + rng.uniform(0, 2 * np.pi))
    radii = radius * np.clip(radii, 0.2, 2)
    outline = np.stack([centre[0] + radii * np.cos(angles), centre[1] + radii * np.sin(angles)], axis=1)
    return _points(outline)


def _shape(rng: np.random.Generator, size: tuple[int, int]) -> Image.Image:
    """Return the mask of a shape."""
    mask = Image.new("L", size)
    pen = ImageDraw.Draw(mask)
    x, y = rng.random(2) * size
    across, down = rng.uniform(0.05, 0.45, 2) * min(size)
    box = (int(x - across), int(y - down), int(x + across), int(y + down))
    kind, line = int(rng.integers(5)), max(2, int(rng.uniform(0.003, 0.04) * min(size)))
    if kind == 0:
        pen.rounded_rectangle(box, int(min(across, down) * rng.uniform(0, 0.9)), fill=255)
    elif kind == 1:
        pen.ellipse(box, fill=255)
    elif kind == 2:
        pen.polygon(_blob(rng, (x, y), across), fill=255)
    elif kind == 3:
        walk = np.cumsum(rng.normal(size=(40, 2)) * min(size) / 25, axis=0)
        pen.line(_points(walk + np.array([x, y])), 255, line, joint="curve")
    else:
        corners = rng.random((int(rng.integers(3, 8)), 2)) * np.array(size)
        pen.polygon(_points(corners), outline=255, width=line)
    return mask


def drawing(rng: np.random.Generator) -> Image.Image:
    """Return shapes, flat or with a gradient, with or without an outline: icons, silhouettes, scribbles, line art."""
    width, height = _size(rng, 200, 700)
    size = (width * _FINE, height * _FINE)
    plain = rng.random()
    background = WHITE if plain < 0.5 else BLACK if plain < 0.65 else _colour(rng)
    image = Image.new("RGB", size, background)
    if rng.random() < 0.15:
        image = _gradient(size, _colour(rng), _colour(rng), across=bool(rng.random() < 0.5))
    palette = [_colour(rng) for _ in range(int(rng.integers(1, 6)))] + [BLACK]
    for _ in range(int(rng.integers(1, 14))):
        mask = _shape(rng, size)
        colour = palette[int(rng.integers(len(palette)))]
        fill = Image.new("RGB", size, colour)
        if rng.random() < 0.35:
            fill = _gradient(size, colour, _colour(rng), across=bool(rng.random() < 0.5))
        image.paste(fill, (0, 0), mask)
    return image.resize((width, height), Image.Resampling.LANCZOS)


def screen(rng: np.random.Generator) -> Image.Image:
    """Return a program's window: bars, lists, buttons and text."""
    width, height = _size(rng, 500)
    dark = rng.random() < 0.4
    ground, ink = (_colour(rng, 15, 60), _colour(rng, 190)) if dark else (_colour(rng, 225), _colour(rng, 0, 90))
    accent = _colour(rng)
    image = Image.new("RGB", (width, height), ground)
    pen = ImageDraw.Draw(image)
    size_px = int(rng.integers(10, 22))
    font, row = _font(rng, size_px), int(size_px * rng.uniform(1.6, 2.6))
    side = int(width * rng.uniform(0, 0.35))
    pen.rectangle((0, 0, width, row), fill=accent)
    pen.rectangle((0, row, side, height), fill=tuple(max(0, value - 12) for value in ground))
    for y in range(2 * row, height - row, row):
        if side > 80:
            pen.text((12, y), _words(rng, 1), ink, font)
        kind, x = rng.random(), side + 16
        if kind < 0.55:
            pen.text((x, y), _words(rng, max(1, (width - side) // (6 * size_px))), ink, font)
        elif kind < 0.7:
            pen.rounded_rectangle((x, y, x + 8 * size_px, y + row - 4), 6, fill=accent)
            pen.text((x + 8, y + 2), _words(rng, 1), ground, font)
        elif kind < 0.8:
            pen.rounded_rectangle((x, y, max(x + 30, width - 20), y + row - 4), 4, outline=ink)
        elif kind < 0.88:
            tile = (max(8, int((width - side) * rng.uniform(0.1, 0.6))), 4 * row)
            image.paste(_gradient(tile, _colour(rng), _colour(rng), across=True), (x, y))
    return image


KINDS: dict[str, Callable[[np.random.Generator], Image.Image]] = {
    "page": page,
    "chart": chart,
    "drawing": drawing,
    "screen": screen,
}


def draw(kind: str, rng: np.random.Generator) -> RGB:
    """Return a picture (H, W, 3) of a kind, some of them scaled or stored as JPEG."""
    image = KINDS[kind](rng)
    if rng.random() < 0.3:
        scale = float(rng.uniform(0.5, 1.5))
        image = image.resize((max(64, round(image.width * scale)), max(64, round(image.height * scale))))
    if rng.random() < 0.5:
        file = io.BytesIO()
        image.save(file, "JPEG", quality=int(rng.integers(60, 96)))
        image = Image.open(file).convert("RGB")
    return np.asarray(image)
