"""Sharing runs on the Hugging Face Hub: `push` and `pull`. Only files that cannot run code travel."""
