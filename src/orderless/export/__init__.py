"""A trained run as one ONNX file: encoder, head, decoding loop, labels and preprocessing.

`file.export_run` writes it, `orderless.onnx_tagger` tags with it, without PyTorch.
"""
