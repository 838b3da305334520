"""Other ways to run the tagger than in this one process."""
