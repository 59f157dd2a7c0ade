"""Reports: what was found in an input, and how it is shown on a page, in a notebook and in a terminal."""

from forensix.report.claims import hex_view
from forensix.report.folder import ReportFolder
from forensix.report.page import render_page, save_page
from forensix.report.report import Report
from forensix.report.terminal import print_report, render

__all__ = ["Report", "ReportFolder", "hex_view", "print_report", "render", "render_page", "save_page"]
