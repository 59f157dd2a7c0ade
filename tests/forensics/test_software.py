"""The table of programs: what it recognises and, as important, what it leaves alone."""

import csv
import re
from pathlib import Path
from typing import get_args

import pytest

from forensix.forensics import software
from forensix.metadata.facts import Fact


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("Adobe Photoshop CS6 (Windows)", "editor"),
        ("GIMP 2.10.18", "editor"),
        ("Created with GIMP", "editor"),
        ("Adobe Lightroom 5.3 (Macintosh)", "editor"),
        ("paint.net 4.0.9", "editor"),
        ("Snapseed 2.0", "editor"),
        ("Xingtu iOS 14.0.0", "editor"),
        ("TouchRetouch", "editor"),
        ("Inpaint 9.0", "editor"),
        ("CyberLink PhotoDirector", "editor"),
        ("CorelDRAW 2020", "editor"),
        ("DaVinci Resolve Studio 18", "editor"),
        ("Blackmagic Design DaVinci Resolve", "editor"),
        ("Photo Mechanic 6.0", "transfer"),
        ("Adobe Bridge 2020 (Macintosh)", "transfer"),
        ("mate-screenshot", "screenshot"),
        ("gnome-screenshot", "screenshot"),
        ("Screenshot", "screenshot"),
        ("ImageMagick 6.2.8 01/18/07 Q16", "converter"),
        ("Lavf58.29.100", "converter"),
        ("CREATOR: gd-jpeg v1.0 (using IJG JPEG v62), quality = 90", "converter"),
        ("WhatsApp", "messenger"),
        ("Midjourney v6", "generator"),
        ("ComfyUI", "generator"),
        ("Adobe_Firefly", "generator"),
        ("DALL·E 3", "generator"),
        ("NovelAI", "generator"),
    ],
)
def test_known_programs(text: str, category: str) -> None:
    assert software.identify(text).category == category


@pytest.mark.parametrize(
    "firmware",
    [
        "Ver.1.00 ", "18.6.1", "Digital Camera FinePix40i Ver1.39", "E-P3 Version 1.1", "NIKON D5000 Ver.1.01",
        "v757-74",
        "DSC-HX5V v1.00", "Firmware Version 1.1.1", "J320FXXU0AQJ1", "HDR+ 1.0", "MediaTek Camera Application", "1.0",
        "QSS-32_33 3.00.022", "Canon EOS 5D Mark III", "FDi V4.5 / FRONTIER390", "",
    ],
)  # fmt: skip
def test_firmware_is_no_editor(firmware: str) -> None:
    program = software.identify(firmware)
    assert program is None or program.category == "camera"


def test_a_program_that_shares_a_word_is_not_taken_for_it() -> None:
    assert software.identify("davinci") is None
    assert software.identify("Word of the day") is None


def test_rows_are_well_formed() -> None:
    table = Path(software.__file__).with_name("programs.csv")
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 300
    categories = get_args(software.Category)
    for row in rows:
        assert row["category"] in categories, row
        re.compile(row["pattern"])
        assert row["pattern"] and re.search(row["pattern"], "") is None, row
        assert row["category"] != "generator", "generators have a table of their own"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("XnView 2.4", "XnView"),
        ("produced by FPDF2", "FPDF"),
        ("PyPDF2", "PyPDF"),
        ("ReportLab PDF Library - www.reportlab.com", "ReportLab"),
        ("Foxit PhantomPDF", "Foxit"),
        ("Foxit Reader PDF Printer Version 9.7.1.2227", "Foxit's printer"),
        ("PDF-XChange Editor 8.0.339", "PDF-XChange"),
        ("PDF-XChange Standard (8.0 build 339) [GDI] [Windows 10]", "PDF-XChange's printer"),
        ("OpenShot Video Editor", "OpenShot"),
        ("vlc 3.0.18 stream output", "VLC"),
        ("vokoscreenNG_3.0.9", "vokoscreen"),
        ("MEncoder SVN-r33883(20110719-gcc4.5.2)", "MEncoder"),
        ("opusenc from opus-tools 0.1.10", "opus-tools"),
        ("libsndfile", "libsndfile"),
        ("This animated GIF file was constructed using Ulead GIF Animator, visit us", "Ulead GIF Animator"),
        ("Ulead PhotoImpact 8", "Ulead PhotoImpact"),
        ("Ulead Photo Express 4.0 SE", "Ulead"),
    ],
)
def test_a_program_is_called_by_its_own_name(text: str, name: str) -> None:
    assert software.identify(text).name == name


@pytest.mark.parametrize(
    ("text", "name", "category"),
    [
        ("FinePix Viewer Ver.1.1", "FinePixViewer", "transfer"),
        ("Nikon Transfer 1.1 W", "Nikon Transfer", "transfer"),
        ("OLYMPUS CAMEDIA Master", "CAMEDIA Master", "transfer"),
        ("OLYMPUS Master 2.04W", "Olympus Workspace", "editor"),
        ("Picasa", "Picasa", "editor"),
        ("Pixelmator 3.3.1", "Pixelmator", "editor"),
        ("Macromedia Fireworks MX", "Adobe Fireworks", "editor"),
        ("Adobe ImageReady", "Adobe ImageReady", "editor"),
        ("Adobe Bridge CS5", "Adobe Bridge", "transfer"),
        ("File written by Adobe Photoshop\xa8 5.0", "Adobe Photoshop", "editor"),
        ("Adobe Photoshop Lightroom 6.9 (Windows)", "Adobe Photoshop Lightroom", "editor"),
        ("IDimager V5 - Digital Image Manager (5.1.3.6-ProSL)", "IDimager", "editor"),
        ("http://www.idimager.com", "IDimager", "editor"),
        ("QuickTime 6.0.2", "QuickTime picture export", "converter"),
        ("LIBFORMAT (c) Pierre-e Gougelet", "XnView", "converter"),
        ("@(#)ImageMagick 4.2.3 99/05/01", "ImageMagick", "converter"),
        ("Mac OS X 10.5.8 (9L31a)", "macOS", "converter"),
        ("Google", "Google", "converter"),
        ("HDR+ 1.0.199571065z", "Android", "camera"),
        ("gemini-user 6.0.1 MXB48T V8.0.2.0.MAAMIDG release-keys", "Android", "camera"),
        ("mate-screenshot", "MATE screenshot", "screenshot"),
        ("Mac OS X 10.5.8 Quartz PDFContext", "Apple Quartz", "writer"),
        ("Skia/PDF m115 Google Docs Renderer", "Google Docs", "writer"),
        ("Skia/PDF m156", "Chrome", "writer"),
        ("Word", "Microsoft Office", "writer"),
        ("PowerPoint", "Microsoft Office", "writer"),
        ("SIGMA Photo Pro 3.5", "SIGMA Photo Pro", "editor"),
        ("Noise Ninja 2.1.2", "Noise Ninja", "editor"),
        ("OfotoNow", "OfotoNow", "editor"),
        ("GraphicConverter", "GraphicConverter", "editor"),
    ],
)
def test_what_files_write_of_themselves(text: str, name: str, category: str) -> None:
    program = software.identify(text)
    assert program is not None and (program.name, program.category) == (name, category)


@pytest.mark.parametrize(
    "text", ["SCANNERMAKER", "Photoshopping list", "Regimple", "Fotorama", "AppleMark", "NETSCAPE2.0"]
)
def test_only_whole_names_match(text: str) -> None:
    assert software.identify(text) is None


def test_named_looks_into_lists() -> None:
    facts = [Fact("a", ["nothing", "GIMP 2.8"], "x"), Fact("b", 7, "y")]
    assert [(f.key, p.name) for f, p in software.named(facts)] == [("a", "GIMP")]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("macOS Version 12.6 (Build 21G115) Quartz PDFContext", "Apple Quartz"),
        ("Mac OS X 10.6.8 Quartz PDFContext", "Apple Quartz"),
        ("Microsoft® PowerPoint® 2016", "Microsoft Office"),
        ("Microsoft Windows Photo Viewer 6.1.7600.16385", "Windows Photo Viewer"),
        ("Microsoft Windows Photo Gallery 6.0.6000.16386", "Windows Photo Gallery"),
        ("Microsoft Windows Live Photo Gallery14.0.8081.709", "Windows Photo Gallery"),
        ("Windows Photo Editor 10.0.10011.16384", "Microsoft Photos"),
        ("Microsoft Photo Editor", "Microsoft Photo Editor"),
        ("Polarr Photo Editor", "Polarr"),
        ("Microsoft: Print To PDF", "Microsoft Office"),
        ("3-Heights(TM) PDF Optimization Shell 4.8.25.2 (http://www.pdf-tools.com)", "3-Heights"),
        ("VeryDOC DOC to Any Converter", "VeryDOC"),
        ("StampPDF Batch 5.1", "StampPDF"),
        ("Acrobat Sign", "Adobe Acrobat Sign"),
        ("Acrobat Pro 23.1.20143", "Adobe Acrobat"),
        ("Python PDF Library - http://pybrary.net/pyPdf/", "PyPDF"),
        ("pdftk-java 3.2.2", "PDFtk"),
        ("luahbtex-1.17.0", "TeX"),
        ("LaTeX with hyperref", "TeX"),
        ("xdvipdfmx (20190503)", "TeX"),
        ("Haru Free PDF Library 2.3.0RC2", "Haru"),
        ("Generated by RasterEdge.XDoc.PDF", "RasterEdge"),
        ("DynamicPDF Core Suite (Generator, Merger and ReportWriter) for .NET v12.15", "DynamicPDF"),
        ("[ClibPDF Library 2.01-r2-7] Windows 9x/NT", "ClibPDF"),
        ("Tracker's PDF-Tools", "Tracker PDF-Tools"),
        ("eDocPrintPro - PDF printer driver - www.pdfprinter.at", "eDocPrintPro"),
        ("OmniGraffle Professional 5.2.1", "OmniGraffle"),
        ("Adobe LiveCycle Designer ES 9.0", "Adobe LiveCycle Designer"),
        ("Xerox WorkCentre 7845", "a scanner's program"),
        ("PFU PDF Library 1.3.1", "a scanner's program"),
        ("Hewlett-Packard MFP", "a scanner's program"),
        ("Canon SC1011", "a scanner's program"),
        ("PScript5.dll Version 5.2.2", "the PostScript driver of Windows"),
        ("ConTeXt - 2008.10.31 13:58", "TeX"),
        ("dvipdfmx (20031116), Copyright 2002", "TeX"),
        ("cpdf non-commercial use only. To buy: http://coherentpdf.com/", "Coherent PDF"),
        ("golang pdfcpu v0.1.4", "pdfcpu"),
        ("My Application (via mustangproject.org 2.0.1)", "Mustang"),
        ("PDFpen", "PDFpen"),
        ("Qt 4.8.6", "Qt"),
        ("in context - 2 pages", None),
        ("SCANNERMAKER 2.0", None),
        ("Monthly numbers and pages", None),
        ("Datalogics - example creator tool name here", None),
    ],
)
def test_programs_of_documents_by_their_whole_names(text: str, name: str | None) -> None:
    program = software.identify(text)
    assert (program.name if program else None) == name
