"""AntiDeepfake: wav2vec 2.0 trained on for speech that is fake, the mean of its features, and one linear layer.

Two logits, fake first. Input is a recording of any length, normalised as a whole to zero mean and unit variance. The
published files name their weights as fairseq does; the encoder here is that of the package transformers.

References
----------
W. Ge et al., "Post-training for deepfake speech detection", ASRU 2025, arXiv:2506.21090.
"""

import re
from typing import Any

from torch import Tensor, nn

from forensix.models.architectures.wav2vec import Encoder, renamed

_NAMES = (
    (r"feature_extractor\.conv_layers\.(\d+)\.0\.", r"feature_extractor.conv_layers.\1.conv."),
    (r"feature_extractor\.conv_layers\.(\d+)\.2\.(1\.)?", r"feature_extractor.conv_layers.\1.layer_norm."),
    (r"post_extract_proj\.", "feature_projection.projection."),
    (r"layer_norm\.", "feature_projection.layer_norm."),
    (r"encoder\.pos_conv\.0\.", "encoder.pos_conv_embed.conv."),
    (r"encoder\.layers\.(\d+)\.self_attn\.", r"encoder.layers.\1.attention."),
    (r"encoder\.layers\.(\d+)\.self_attn_layer_norm\.", r"encoder.layers.\1.layer_norm."),
    (r"encoder\.layers\.(\d+)\.fc1\.", r"encoder.layers.\1.feed_forward.intermediate_dense."),
    (r"encoder\.layers\.(\d+)\.fc2\.", r"encoder.layers.\1.feed_forward.output_dense."),
)
"""What fairseq calls the places of the encoder, and what transformers does."""
_PRETRAINING = ("mask_emb", "quantizer.", "project_q.", "final_proj.")
"""Weights that only the encoder's own training used."""


class AntiDeepfake(nn.Module):
    """Waveforms (batch, samples) at 16 kHz to logits (batch, 2): fake, real."""

    def __init__(self, **shape: Any) -> None:
        super().__init__()
        self.encoder = Encoder(**shape)
        self.proj_fc = nn.Linear(self.encoder.model.config.hidden_size, 2)

    def forward(self, waves: Tensor) -> Tensor:
        """Return logits (batch, 2)."""
        logits: Tensor = self.proj_fc(self.encoder(waves).mean(1))
        return logits


def build(**shape: Any) -> AntiDeepfake:
    """Return the network with fresh weights; ``shape`` is what of its encoder differs from XLS-R's."""
    return AntiDeepfake(**shape)


def adapt(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights of a published file under the names that they have here."""
    weights = {}
    for key, value in state.items():
        place = key.removeprefix("m_ssl.model.")
        if place == key:
            weights[key] = value
        elif not place.startswith(_PRETRAINING):
            weights[f"encoder.model.{_name(place)}"] = value
    return renamed(weights)


def _name(place: str) -> str:
    for theirs, ours in _NAMES:
        if re.match(theirs, place):
            return re.sub(f"^{theirs}", ours, place)
    return place
