# labeler, serving the golden set in the volume /data:
#   docker build -t labeler .
#   docker run --rm -it -p 8501:8501 -v golden:/data labeler serve --new --lead "Your name" --host 0.0.0.0 --no-browser
#   docker run -d -p 8501:8501 -v golden:/data labeler
FROM python:3.13-slim AS build
WORKDIR /src
COPY . .
# With Sphinx at hand the wheel carries the documentation.
RUN python -m pip install --no-cache-dir -c constraints.txt build hatchling ".[docs]" \
 && python -m build --wheel --no-isolation --outdir /wheels .

FROM python:3.13-slim
COPY --from=build /src/constraints.txt /wheels/*.whl /tmp/
RUN python -m pip install --no-cache-dir -c /tmp/constraints.txt "$(ls /tmp/*.whl)[login,postgres]" \
 && rm /tmp/*.whl /tmp/constraints.txt
RUN useradd --create-home --uid 1000 labeler \
 && mkdir /data /backups \
 && chown labeler:labeler /data /backups
USER 1000
WORKDIR /data
ENV LABELER_DB=/data/golden.db
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
ENTRYPOINT ["labeler"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8501", "--no-browser"]
