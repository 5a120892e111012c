#!/usr/bin/env bash
# Writes ../testdata/seeds anew. Needs Go, protoc, python3 with google.protobuf (PYTHON names it), node and npm.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
api=../../api
out=../testdata/seeds
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

rm -rf "$out"
mkdir -p "$out"

# The values as text, as JSON and as Go writes them.
SEEDS_OUT=$(realpath "$out") SEEDS_WORK=$work go test -count=1 -run '^TestGenerate$' .

# C++
for text in "$work"/*.txtpb; do
  name=$(basename "$text" .txtpb)
  protoc -I "$api" --encode=thriftpack.v1.Value "$api/thriftpack/v1/value.proto" <"$text" >"$out/$name.cpp.bin"
done

# Python
protoc -I "$api" --python_out="$work" "$api/thriftpack/v1/value.proto"
"${PYTHON:-/usr/bin/python3}" encode.py "$work" "$out"

# JavaScript
npm install --silent --no-save --prefix "$work" protobufjs@7.5.4 >/dev/null
NODE_PATH=$work/node_modules node encode.js "$api/thriftpack/v1/value.proto" "$work" "$out"

ls "$out" | wc -l
