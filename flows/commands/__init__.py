"""The bodies of the commands; imported when a command runs, so that help stays fast."""
