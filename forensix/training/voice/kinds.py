"""What kind of synthesis a named system is, so that figures can be told apart by it."""

import re

COPY, CONVERSION, MODERN = "vocoder and codec copies", "voice conversion", "codec and flow models of 2023 on"
CLASSICAL, NEURAL, SINGING = "classical synthesis", "neural TTS to 2022", "singing"
KINDS = (NEURAL, MODERN, CONVERSION, COPY, CLASSICAL, SINGING)

# The first pattern found in a system's name holds; what none names is neural TTS.
_PATTERNS = (
    (r"singing", SINGING),
    (r"copy-synthesis", COPY),
    (r"festival|flite|mbrola|marytts|pico|espeak", CLASSICAL),
    (r"predicted-mel|cascaded tts|\+ ?(hifi-gan|waveglow|wavenet)|wavegrad ?2|text-to-wave|e2e tts", NEURAL),
    (r"^vall-e|^bark|speechtokenizer\)", MODERN),
    (
        r"\bvc\b|-?vc\d?\b|vvcc|vqvc|conversion|autovc|speechsplit|\bblow\b|cotatron|assem|vcc20|s3prl|atts2s|cdvae"
        r"|anonymisation|autopst|voicemixer|hiervst|slmgan|vqmivc|stargan",
        CONVERSION,
    ),
    (
        r"copy|copies|resynthesis|vocoder|codec|world|straight|gt-mel|^(hifi-?gan|bigvgan|vocos|istftnet|lpcnet|univnet"
        r"|melgan|waveglow|wavenet|waveflow|diffwave|wavegrad|priorgrad|specgrad|clarinet|parallel wavegan|gaussian"
        r"|mol wavenet|flowavenet|qpnet|quasi-periodic|kan-bayashi_|r9y9_)",
        COPY,
    ),
    (
        r"vall-?e|voicecraft|clam-tts|mega-tts|mobilespeech|naturalspeech [23]|voicebox|ditto|cosyvoice|f5-tts|firered"
        r"|fishspeech|indextts|xtts|metis|styletts 2|hierspeech\+\+|e3 tts|simple-tts|matcha|meanspeech|reflow"
        r"|comospeech|zet-speech|gslm|tortoise|face-stylespeech",
        MODERN,
    ),
)


def kind_of(system: str) -> str:
    """Return one of `KINDS`.

    Examples
    --------
    >>> kind_of("HiFi-GAN copy-synthesis"), kind_of("AGAIN-VC"), kind_of("VALL-E (reimpl.)"), kind_of("FastSpeech 2")
    ('vocoder and codec copies', 'voice conversion', 'codec and flow models of 2023 on', 'neural TTS to 2022')
    """
    return next((kind for pattern, kind in _PATTERNS if re.search(pattern, system, re.IGNORECASE)), NEURAL)
