"""Ranges of a population: evidence to positions in per cent, which the templates draw as SVG."""

from dataclasses import dataclass

from forensix.report.charts import percent
from forensix.report.words import number_text
from forensix.tasks.evidence import Bound


@dataclass(frozen=True)
class BoundView:
    """One row of :class:`forensix.tasks.evidence.Bounds`, positions in per cent of the strip."""

    name: str
    value: str
    status: str
    is_outlier: bool
    population: tuple[float, float]
    bounds: tuple[float, float]
    mean_at: float
    value_at: float | None
    beyond: str
    bounds_text: str
    population_text: str
    percentile: str


def bound_view(bound: Bound) -> BoundView:
    """Place one measured value on the strip of its population; a value far outside is shown as beyond the edge."""
    low, high = min(bound.minimum, bound.low), max(bound.maximum, bound.high)
    pad = 0.12 * (high - low) or 1.0
    low, high = low - pad, high + pad

    def at(value: float) -> float:
        return min(max(percent(value, low, high), 0.0), 100.0)

    unit = f" {bound.unit}" if bound.unit else ""
    beyond = ""
    if bound.value is None:
        status = "not measured"
    else:
        beyond = "left" if bound.value < low else "right" if bound.value > high else ""
        status = "outlier" if bound.is_outlier else "within bounds"
        if bound.is_outlier and (bound.value < bound.low or bound.value > bound.high):
            status = "below the bounds" if bound.value < bound.low else "above the bounds"
    return BoundView(
        name=bound.name,
        value="–" if bound.value is None else number_text(bound.value) + unit,
        status=status,
        is_outlier=bound.is_outlier,
        population=(at(bound.minimum), at(bound.maximum)),
        bounds=(at(bound.low), at(bound.high)),
        mean_at=at(bound.mean),
        value_at=None if bound.value is None else at(bound.value),
        beyond=beyond,
        bounds_text=f"{number_text(bound.low)} to {number_text(bound.high)}{unit}",
        population_text=f"{number_text(bound.minimum)} to {number_text(bound.maximum)}{unit}, "
        f"mean {number_text(bound.mean)}",
        percentile="" if bound.percentile is None else str(bound.percentile),
    )
