"""The figures of a comparison, one file per family; each gives None if the runs have nothing to show."""
