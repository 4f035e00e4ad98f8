"""`python -m pckid` is the command `pckid`."""

from pckid.frontends.cli import main

if __name__ == "__main__":
    main()
