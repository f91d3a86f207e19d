# docker build -t memolith .
# docker run -d -p 127.0.0.1:8788:8788 -v memolith:/memory memolith
# docker exec CONTAINER memolith token
FROM python:3.13-slim

COPY . /src
RUN pip install --no-cache-dir --constraint /src/constraints.txt '/src[postgres]' \
    && rm -rf /src \
    && useradd --create-home memolith \
    && install --directory --owner memolith --mode 700 /memory

USER memolith
ENV MEMOLITH_HOME=/memory MALLOC_ARENA_MAX=2
VOLUME /memory
EXPOSE 8788
HEALTHCHECK --start-period=30s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8788/healthz', timeout=5)"]
ENTRYPOINT ["memolith"]
CMD ["serve", "--host", "0.0.0.0"]
