"""What workers do: take jobs, analyse in a warm child that may be killed, deliver webhooks, clean up."""
