"""Data: samples, readers, decoding, transforms, generated scenes."""
