"""The service's commands where the service is not installed."""

import subprocess
import sys
from pathlib import Path

from forensix.service.commands import _NEEDED

REPOSITORY = Path(__file__).parents[2]
COMMANDS = ("account add alice", "account list", "account secret a", "account password a", "account remove a", "serve")


def test_without_the_extra_each_command_says_in_a_sentence_what_brings_it(tmp_path: Path) -> None:
    code = (
        "import importlib.util, sys\n"
        f"gone, there = {set(_NEEDED)}, importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name in gone else there(name, *rest)\n"
        "sys.modules |= dict.fromkeys(gone)\n"
        "from forensix.cli import main\n"
        "for line in sys.argv[1:]:\n"
        "    try:\n"
        "        main(line.split())\n"
        "    except SystemExit as ended:\n"
        "        print(ended.code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *COMMANDS], capture_output=True, text=True, cwd=REPOSITORY, check=False,
        env={"FORENSIX_HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.stdout.split() == ["2"] * len(COMMANDS), done.stderr
    sentence = f"forensix: the service needs {', '.join(_NEEDED)}; install with: pip install 'forensix[service]'"
    assert done.stderr.splitlines() == [sentence] * len(COMMANDS)
    assert not list(tmp_path.iterdir())
