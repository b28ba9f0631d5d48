# The command line in a container. What it needs is installed and compiled when the image is built: it downloads nothing when it runs.
#   docker build --tag sudare .
#   docker run --rm --network none --volume "$PWD:/data" sudare check people.csv
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE constraints.txt ./
COPY src src
RUN python -m venv /opt/sudare \
 && /opt/sudare/bin/pip install --no-cache-dir --constraint constraints.txt '.[duckdb,postgres,files,plots]' \
 && /opt/sudare/bin/sudare warm-up

FROM python:3.12-slim
COPY --from=build /opt/sudare /opt/sudare
RUN useradd --create-home --uid 1000 holder
# What was compiled lies beside the package, where this user cannot write and need not.
USER holder
WORKDIR /data
ENTRYPOINT ["/opt/sudare/bin/sudare"]
CMD ["--help"]
