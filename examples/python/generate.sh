#!/usr/bin/env bash
# Generates the Python code of the API into gen/ (Debian packages protobuf-compiler and protobuf-compiler-grpc).
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p gen
protoc -I ../../api --python_out=gen --grpc_python_out=gen \
  --plugin=protoc-gen-grpc_python="$(command -v grpc_python_plugin)" \
  thriftpack/v1/value.proto thriftpack/v1/serializer.proto
