"""Reports: what was found in an input, and how it is shown on a page, in a notebook and in a terminal."""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from forensix.report.claims import hex_view
    from forensix.report.folder import ReportFolder
    from forensix.report.page import render_page, save_page
    from forensix.report.report import Report
    from forensix.report.terminal import print_report, render

__all__ = ["Report", "ReportFolder", "hex_view", "print_report", "render", "render_page", "save_page"]

# On demand: who analyses needs neither the page nor the terminal.
__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "claims": ["hex_view"],
        "folder": ["ReportFolder"],
        "page": ["render_page", "save_page"],
        "report": ["Report"],
        "terminal": ["print_report", "render"],
    },
)
