"""`python -m orderless`."""

from orderless.cli.main import main

main()
