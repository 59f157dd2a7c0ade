"""A pool of training crops, and fitting the detector's linear rule to it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from forensix.generated.statistics import CHANNELS, NAMES, vector
from forensix.models.architectures.channel_rule import CLIP, ChannelRule
from forensix.training.images_data import Picture

SIDE_PX = 128
SMALL_DOMAIN = 60


@dataclass(frozen=True)
class Pool:
    """Statistics of crops and where they come from, aligned."""

    statistics: NDArray[np.float32]
    fake: NDArray[np.bool_]
    domain: NDArray[np.str_]
    picture: NDArray[np.int64]

    def take(self, at: NDArray[np.bool_]) -> "Pool":
        """Return the crops selected by a mask."""
        return Pool(self.statistics[at], self.fake[at], self.domain[at], self.picture[at])


def domain(picture: Picture) -> str:
    """Return what classes are balanced over: the source of a photograph, the generator of a generated picture."""
    return picture.generator if picture.fake else picture.source


def domain_weights(domains: NDArray[np.str_], fake: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return weights that give both classes, and within them every domain, the same sum; small domains get less."""
    _, at, counts = np.unique(domains, return_inverse=True, return_counts=True)
    weights = 1 / np.maximum(counts, SMALL_DOMAIN)[at]
    for side in (fake, ~fake):
        weights[side] /= weights[side].sum()
    return np.asarray(weights / weights.sum() * len(weights))


def crop(view: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return a random window of at most `SIDE_PX`, at native resolution, mirrored in one draw of two.

    Nothing is encoded or scaled: how the channels were stored is part of the evidence. Rules fitted to re-encoded crops
    as well did no better on re-encoded pictures of held-out sources, and worse on the development split.
    """
    side = min(SIDE_PX, min(view.shape[:2]) // 2 * 2)
    top, left = (int(rng.integers(size - side + 1)) for size in view.shape[:2])
    window = view[top : top + side, left : left + side]
    return np.ascontiguousarray(window[:, ::-1] if rng.random() < 0.5 else window)


def make_pool(pictures: list[Picture], n: int, *, seed: int, log: Callable[[str], None] = lambda _: None) -> Pool:
    """Draw ``n`` crops, half of each class, balanced over domains, and describe each."""
    rng = np.random.default_rng(seed)
    domains = np.array([domain(p) for p in pictures])
    fake = np.array([p.fake for p in pictures])
    weights = domain_weights(domains, fake)
    drawn = rng.choice(len(pictures), size=n, p=weights / weights.sum())
    statistics = np.empty((n, len(NAMES)), np.float32)
    for i, at in enumerate(drawn):
        views = pictures[at].views
        statistics[i] = vector(crop(views[int(rng.integers(len(views)))], rng))
        if (i + 1) % 2000 == 0:
            log(f"pool: {i + 1} of {n}")
    return Pool(statistics, fake[drawn], domains[drawn], drawn)


def fit_rule(pool: Pool, *, strength: float = 0.003) -> ChannelRule:
    """Fit one member; ``strength`` is the inverse of the ridge penalty. Weights are those of `domain_weights`."""
    x = pool.statistics[:, CHANNELS].astype(np.float64)
    weights = domain_weights(pool.domain, pool.fake)
    mean = np.average(x, axis=0, weights=weights)
    scale = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=weights)) + 1e-3
    z = np.clip((x - mean) / scale, -CLIP, CLIP)
    model = LogisticRegression(C=strength, max_iter=1000).fit(z, pool.fake, sample_weight=weights)
    rule = ChannelRule(len(CHANNELS), 1)
    with torch.no_grad():
        for target, value in (
            (rule.mean, mean),
            (rule.scale, scale),
            (rule.weight, model.coef_[0]),
            (rule.bias, model.intercept_),
        ):
            target.copy_(torch.from_numpy(np.atleast_1d(value)).reshape(target.shape))
    return rule.eval()


def join(members: list[ChannelRule]) -> ChannelRule:
    """Return one rule whose logit is the mean of the members'."""
    joined = ChannelRule(members[0].weight.shape[1], len(members))
    states = [member.state_dict() for member in members]
    joined.load_state_dict({key: torch.cat([state[key] for state in states]) for key in states[0]})
    return joined.eval()


@torch.inference_mode()
def logits(rule: ChannelRule, statistics: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the rule's logits of crops, (n,)."""
    found: NDArray[np.float64] = rule(torch.from_numpy(statistics[:, CHANNELS])).double().numpy()
    return found
