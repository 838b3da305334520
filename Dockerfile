# The service with ONNX Runtime, without PyTorch.
#
#   orderless export runs/x --to model.onnx
#   docker build --tag orderless .
#   docker run --read-only --publish 8000:8000 --env ORDERLESS_TOKEN=… \
#     --volume "$PWD/model.onnx:/model/model.onnx:ro" orderless
#
# It listens beyond its own machine, so it wants a token: without one it says so and stops.

FROM python:3.11-slim AS build
COPY pyproject.toml setup.py README.md LICENSE /source/
COPY src /source/src
# The C code is for training and for PyTorch: without a compiler it is left out.
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM python:3.11-slim
COPY constraints.txt docker/requirements.txt /tmp/
COPY --from=build /wheels /tmp/wheels
# Without its dependencies: they would bring PyTorch.
RUN pip install --no-cache-dir --constraint /tmp/constraints.txt --requirement /tmp/requirements.txt \
    && pip install --no-cache-dir --no-deps /tmp/wheels/*.whl \
    && rm -r /tmp/* \
    && useradd --system --uid 10001 --no-create-home orderless
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 10001
WORKDIR /model
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import http.client as c; h = c.HTTPConnection('127.0.0.1', 8000, timeout=4); h.request('GET', '/healthz'); exit(h.getresponse().status != 200)"]
CMD ["orderless", "serve", "/model/model.onnx", "--host", "0.0.0.0"]
