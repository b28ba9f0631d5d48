# The command line and the studio in a container. What they need is installed and compiled when the image is built: nothing is downloaded when they run.
#   docker build --tag sudare .
#   docker run --rm --network none --user "$(id -u):$(id -g)" --volume "$PWD:/data" sudare check people.csv
#   docker run --rm --publish 127.0.0.1:8000:8000 --env SUDARE_STUDIO_PASSWORD --user "$(id -u):$(id -g)" --volume "$PWD:/data" sudare \
#     studio --host 0.0.0.0 --port 8000 --projects /data/studio --no-browser
# With --user, what it writes into the folder is yours. SUDARE_STUDIO_PASSWORD is a password of your own, of at least 12 signs.
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE constraints.txt ./
COPY src src
RUN python -m venv /opt/sudare \
 && /opt/sudare/bin/pip install --no-cache-dir --constraint constraints.txt '.[duckdb,postgres,files,plots,studio]' \
 && /opt/sudare/bin/sudare warm-up

FROM python:3.12-slim
COPY --from=build /opt/sudare /opt/sudare
RUN useradd --create-home --uid 1000 holder
# What was compiled lies beside the package, where no user can write and none need.
USER holder
WORKDIR /data
ENTRYPOINT ["/opt/sudare/bin/sudare"]
CMD ["--help"]
