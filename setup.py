"""What is compiled; everything else about the package stands in pyproject.toml.

All of it is optional: without a C compiler the package installs all the same, and does this work in Python.
"""

from setuptools import Extension, setup

# The same numbers as Python's: a product and a sum are rounded one by one.
FLAGS = ["-O3", "-ffp-contract=off"]

setup(
    ext_modules=[
        Extension(
            f"orderless.{name}",
            [f"src/orderless/{name.replace('.', '/')}.c"],
            include_dirs=["src/orderless"],
            depends=["src/orderless/wide_vectors.h"],
            extra_compile_args=FLAGS,
            optional=True,
        )
        for name in ("order._align", "data._pixels", "data._resize", "model._decode")
    ]
)
