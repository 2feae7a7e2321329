# The server as an image that has one static binary and the certificates of public authorities.
#
#   docker build -t spool .
#   docker run -p 8080:8080 -e SPOOL_TOKEN="$(openssl rand -hex 16)" -v spool:/data spool

FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
COPY rest/go.mod rest/go.sum rest/
# A copy replaces rest. With go.work instead, "go mod download" would get every module of the graph.
RUN cp go.mod go.sum /tmp && go mod edit -replace=github.com/spoolhq/spool/rest=./rest /tmp/go.mod && go mod download -modfile=/tmp/go.mod
COPY . .
RUN mkdir -p /out/root && mkdir -m 700 /out/root/data && \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false -ldflags='-s -w -buildid=' -o /out/spool ./cmd/spool

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/spool /usr/local/bin/spool
COPY --from=build --chown=65532:65532 /out/root /
ENV PATH=/usr/local/bin SPOOL_DATA=/data SPOOL_LISTEN=0.0.0.0:8080
USER 65532:65532
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["/usr/local/bin/spool", "admin", "ready"]
ENTRYPOINT ["/usr/local/bin/spool"]
CMD ["serve"]
