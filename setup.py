"""What is compiled; everything else about the package stands in pyproject.toml.

All of it is optional: without a C compiler the package installs all the same, and does this work in Python.
"""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension("orderless.order._align", ["src/orderless/order/_align.c"], extra_compile_args=["-O3"], optional=True)
    ]
)
