"""``forensix completion``: what a shell offers after the script was read."""

import shutil
import subprocess

import pytest

from forensix.cli import main
from forensix.cli.completion import SHELLS


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(["completion", shell])
    assert not stopped.value.code
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["anal"], {"analyze"}),
        (["analyze", "--ov"], {"--overwrite"}),
        (["analyze", "a.jpg", "--task", "voi"], {"voice_analysis"}),
        (["models", "show", "forensix-f"], {"forensix-face", "forensix-face-regions"}),
        (["completion", ""], set(SHELLS)),
    ],
)
def test_bash_offers_commands_options_tasks_and_models(
    typed: list[str], offered: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = " ".join(f"'{word}'" for word in ["forensix", *typed])
    asked = f"COMP_WORDS=({words}); COMP_CWORD={len(typed)}; _shtab_forensix; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(
        ["bash", "--norc"], input=f"{script('bash', capsys)}\n{asked}\n", capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) == offered, done.stderr


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_takes_its_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(shell, capsys)
    assert "voice_analysis" in text and "overwrite" in text
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=text, text=True, check=True)
