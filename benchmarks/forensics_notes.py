"""Why files are judged otherwise than their manifest says."""

HYBRID = (
    "A hybrid-reference file: one save, whose second, empty section points to the cross-reference stream "
    "(/XRefStm) for newer readers. Nothing was added, so there is one version."
)


CAPTION = (
    "The digest of a caption is all that Photoshop's block holds. Agencies and operating systems write it beside a "
    "picture that they leave as it is, so it is told as benign."
)


CONVERTER = "ImageMagick is named, and nothing else: a converter, which is told as benign."


SIGNED = (
    "Each later version is a signature that holds, with what it allows; signing gives the second half of /ID its new "
    "value. It is told, as benign."
)


NOTES: dict[str, str] = {
    "0032_": "The preview of 160 x 120 shows the same picture between black bars (correlation 1.00 within them): there "
    "is one version.",
    "0028_": "InDesign exported it and names its layout, as with each export; the two halves of /ID differ, and no "
    "date and no later version says that it was changed.",
    "0046_": HYBRID,
    "0095_": SIGNED,
    "0109_": "Encrypted for the holders of certificates, which qpdf cannot open; its structure is whole.",
    "0051_": CAPTION,
    "0151_": CAPTION,
    "0156_": "All rows of the cross-reference table lack the same byte, as the program writes them: a small fault, "
    "told as benign.",
    "0265_": "Signed with iText, which writes that it modified the document; the signature, a qualified one, covers "
    "the whole file and holds.",
    "0332_": "20,480 empty bytes stand behind the end mark: a small fault, told as benign.",
    "0102_": CONVERTER,
    "0112_": CONVERTER,
    "0218_": CAPTION,
    "0365_": "The camera's EXIF stands in a file that begins with JFIF, has the library's tables and states "
    "4032 x 3024 pixels where the picture has 4030 x 2570: it was cropped and saved by another program, and the claim "
    "is right.",
    "0110_": HYBRID,
    "0124_": SIGNED,
    "0133_": HYBRID,
    "0142_": SIGNED,
    "0250_": "The first section holds an empty page, which the program filled in the second: nothing was there that "
    "could have been changed, so there is one version.",
    "0204_": SIGNED,
    "0137_": "The lowest bits of the alpha channel hold the parameters of Stable Diffusion (stealth_pngcomp), "
    "which ExifTool does not read: the claim is right.",
    "0140_": "ExifTool's warning is about a property of the XMP; qpdf reads the file and finds only its hints for "
    "linear reading out of date.",
    "0185_": "The text chunks parameters and fooocus_scheme are Fooocus's own record: the claim is right.",
    "0345_": "The only sign is the producer iText, a library that makes documents as well as it changes them; the "
    "halves of /ID are the same, there is one version and no later date.",
    "0256_": "A sound ADTS stream (FF F1) that decodes to its end; ExifTool does not know the format.",
}
"""Why a file is judged otherwise than its manifest row says, by the start of its name; written after looking at it."""
