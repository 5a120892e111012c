# syntax=docker/dockerfile:1
# The image for those who have Docker; `make image` makes the same without, bit for bit the same on every machine, with a list of its contents.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /source
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS TARGETARCH VERSION=devel
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X github.com/thriftpack/thriftpack/internal/buildinfo.version=$VERSION" \
    -o /root-of-image/usr/local/bin/thriftpack-server ./cmd/server \
 && mkdir -p /root-of-image/etc/ssl/certs /root-of-image/usr/share/doc/thriftpack \
 && install -d -m 1777 /root-of-image/tmp \
 && printf 'root:x:0:0:root:/:/sbin/nologin\nthriftpack:x:65532:65532:thriftpack:/:/sbin/nologin\n' > /root-of-image/etc/passwd \
 && printf 'root:x:0:\nthriftpack:x:65532:\n' > /root-of-image/etc/group \
 && cp /etc/ssl/certs/ca-certificates.crt /root-of-image/etc/ssl/certs/ \
 && cp LICENSE /root-of-image/usr/share/doc/thriftpack/

FROM scratch
COPY --from=build /root-of-image/ /
ENV PATH=/usr/local/bin
USER 65532:65532
WORKDIR /
EXPOSE 50051 50052 8080
STOPSIGNAL SIGTERM
LABEL org.opencontainers.image.title="thriftpack" \
      org.opencontainers.image.source="https://github.com/thriftpack/thriftpack" \
      org.opencontainers.image.licenses="Apache-2.0"
ENTRYPOINT ["/usr/local/bin/thriftpack-server"]
