"""The command line: ``quartzite ...`` (extra ``cli``)."""
