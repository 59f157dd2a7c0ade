"""What is read back of a report's JSON file says what the report said, but for the evidence."""

from pathlib import Path

import pandas as pd

from forensix.report import Report, kept
from forensix.report.sections import sections


def test_a_report_is_read_back_without_its_evidence(report: Report, failed_report: Report, tmp_path: Path) -> None:
    for one in (report, failed_report):
        path = tmp_path / "one.json"
        path.write_text(kept.text(one, {"version": "1"}))
        found, read = kept.find(path), kept.read(path)
        assert found == kept.Kept("one", one.input, one.sha256, one.failed, {"version": "1"})
        assert read.to_json() == one.to_json() and read.headline == one.headline
        pd.testing.assert_frame_equal(read.to_frame(), one.to_frame())
        shown = [[(s.task, s.title, s.verdict, s.scale, s.error) for s in sections(r)] for r in (one, read)]
        assert shown[0] == shown[1]
        assert not any(outcome.evidence for outcome in read.outcomes.values())
