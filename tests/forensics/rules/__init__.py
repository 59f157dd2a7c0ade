"""What the tests of several media ask of findings."""

from forensix.forensics.findings import Finding


def pick(findings: tuple[Finding, ...], words: str) -> Finding:
    """Return the first finding whose claim holds these words."""
    matching = [f for f in findings if words in f.claim.claim]
    assert matching, [f.claim.claim for f in findings]
    return matching[0]
