# The app in a container. It listens on the loopback address alone, so the container shares the
# host's network:  docker build -t pckid . && docker run --rm --network host pckid
FROM python:3.13-slim
RUN useradd --create-home --uid 1000 analyst
COPY . /src
RUN python -m pip install --no-cache-dir "/src[app]" && rm -rf /src
USER 1000
WORKDIR /home/analyst
EXPOSE 8501
CMD ["pckid", "app", "--port", "8501", "--no-browser"]
