# syntax=docker/dockerfile:1

# One image for the five services and the `backscroll` command. Nothing of it is written to at run time but
# /tmp and, by `backscroll up`, /data.
ARG BASE=python:3.11.14-slim-bookworm

FROM ${BASE} AS build
WORKDIR /build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
# pip stays behind in this stage.
RUN python -m venv --without-pip /opt/backscroll
# Dependencies in a layer of their own, in the versions of the lock: without its sources the package is empty.
COPY pyproject.toml requirements.lock README.md LICENSE ./
RUN pip --python /opt/backscroll/bin/python install --constraint requirements.lock .
COPY shared ./shared
COPY services ./services
COPY backscroll ./backscroll
RUN pip --python /opt/backscroll/bin/python install --no-deps --force-reinstall .

FROM ${BASE}
LABEL org.opencontainers.image.title="Backscroll" \
      org.opencontainers.image.description="Million-token conversations on an LLM engine whose window is far smaller" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN install --directory --owner=10001 --group=10001 /data
COPY --from=build /opt/backscroll /opt/backscroll
ENV PATH=/opt/backscroll/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/tmp \
    BACKSCROLL_HOST=0.0.0.0 \
    BACKSCROLL_DATA_DIR=/data
WORKDIR /data
USER 10001:10001
EXPOSE 8400
# `backscroll up` answers on its port, a service alone on BACKSCROLL_HEALTH_PORT.
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os; from urllib.request import urlopen; urlopen('http://127.0.0.1:' + (os.environ.get('BACKSCROLL_HEALTH_PORT') or os.environ.get('BACKSCROLL_PORT') or '8400') + '/health/ready', timeout=5)"]
CMD ["backscroll", "up"]
