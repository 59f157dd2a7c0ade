"""wav2vec 2.0, the encoder of the package transformers, as published detectors of synthetic speech build on it.

References
----------
A. Baevski et al., "wav2vec 2.0", NeurIPS 2020; A. Babu et al., "XLS-R", 2021.
"""

from typing import Any

from torch import Tensor, nn

from forensix.errors import MissingExtra

_LARGE = {
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
    "feat_extract_norm": "layer",
    "do_stable_layer_norm": True,
    "conv_bias": True,
    "apply_spec_augment": False,
    "layerdrop": 0.0,
}
"""The shape of XLS-R with 300 million weights, of MMS-300M and of wav2vec 2.0 large; nothing of it is masked."""


class Encoder(nn.Module):
    """Waveforms (batch, samples) at 16 kHz to features (batch, frames, width), a frame each 20 ms.

    ``shape`` is what differs from XLS-R's, in the words of ``Wav2Vec2Config``.
    """

    def __init__(self, **shape: Any) -> None:
        super().__init__()
        try:
            import transformers
        except ImportError:
            raise MissingExtra("this model needs the package transformers: pip install 'forensix[zoo]'") from None
        library: Any = transformers
        self.model: Any = library.Wav2Vec2Model(library.Wav2Vec2Config(**(_LARGE | shape)))
        self.model.masked_spec_embed = None

    def forward(self, waves: Tensor) -> Tensor:
        """Return the last layer's features, normalised where the network does so."""
        features: Tensor = self.model(waves).last_hidden_state
        return features

    def layers(self, waves: Tensor) -> list[Tensor]:
        """Return the features before the first layer and after every layer, the last ones normalised."""
        outputs = self.model(waves, output_hidden_states=True)
        # Releases of transformers differ in whether the last of the hidden states is normalised.
        return [*outputs.hidden_states[:-1], outputs.last_hidden_state]


def renamed(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return a state whose position convolution is named as torch names it today; files have either."""
    place = "pos_conv_embed.conv."
    for old, new in (("weight_g", "original0"), ("weight_v", "original1")):
        state = {
            key.replace(f"{place}{old}", f"{place}parametrizations.weight.{new}"): value for key, value in state.items()
        }
    return state
