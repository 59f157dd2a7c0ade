"""A child that is an interpreter of its own and ends with its parent, whatever it is doing then."""

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any


class Fresh(subprocess.Popen[bytes]):
    """The child, in a session of its own, with pipes that are not buffered for its input and output.

    Parameters
    ----------
    command
        What is started.
    variable, settings
        Environment variable that gives the child these settings, and with them ``parent``, our process, and
        ``lifeline``, a pipe to which nobody writes: its end tells that we are gone, see `child.follow_parent`.
    environment
        The child's other variables.
    options
        Others of `subprocess.Popen`.
    """

    def __init__(
        self,
        command: Sequence[str],
        variable: str,
        settings: Mapping[str, Any],
        environment: Mapping[str, str],
        **options: Any,
    ) -> None:
        theirs, self._lifeline = os.pipe()
        try:
            super().__init__(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                env={**environment, variable: json.dumps({**settings, "parent": os.getpid(), "lifeline": theirs})},
                pass_fds=[theirs],
                start_new_session=True,
                **options,
            )
        except BaseException:
            os.close(self._lifeline)
            raise
        finally:
            os.close(theirs)

    def end(self) -> None:
        """Kill it with its process group, and wait until it is gone; harmless when it is."""
        if self.returncode is None:
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                # The group is not there yet, or (macOS) holds only the ended child.
                self.kill()
            self.wait()
        lifeline, self._lifeline = self._lifeline, -1
        if lifeline >= 0:
            os.close(lifeline)
