#!/usr/bin/env bash
# Starts bin/server on a socket of its own and runs the example clients' tests against it. PYTHON is the interpreter that
# has gRPC. Without their packages it says what is missing; that is a failure where CI=true.
set -euo pipefail
cd "$(dirname "$0")"

missing=()
command -v node >/dev/null || missing+=(node)
[[ -d node/node_modules/@grpc/grpc-js ]] || missing+=("the npm packages of examples/node")
[[ -n "${PYTHON:-}" ]] || missing+=("a Python with grpc and google.protobuf")
for tool in protoc grpc_python_plugin; do
  command -v "$tool" >/dev/null || missing+=("$tool")
done
if ((${#missing[@]})); then
  printf 'test-clients: missing: %s\n' "${missing[@]}" >&2
  echo "make deps installs them" >&2
  [[ "${CI:-}" != true ]] || exit 1
  exit 0
fi

# A socket rather than a port: nothing else can have taken it.
dir=$(mktemp -d)
server=
finish() {
  if [[ -n "$server" ]] && kill "$server" 2>/dev/null; then wait "$server" || true; fi
  rm -rf "$dir"
}
trap finish EXIT
# The server takes its settings from the flags alone.
for name in "${!THRIFTPACK_@}"; do unset "$name"; done
../bin/server --grpc-addr="unix:$dir/grpc.sock" --http-addr= --drain-delay=0s --schema-store=none 2>"$dir/log" &
server=$!
export THRIFTPACK_ADDR="unix:$dir/grpc.sock"

status=0
echo "== Node $(node --version)"
(cd node && node --test) || status=1
echo "== Python $("$PYTHON" -c 'import grpc, platform; print(platform.python_version(), "with gRPC", grpc.__version__)')"
python/generate.sh
(cd python && "$PYTHON" -m unittest) || status=1

if ((status)); then
  echo "== the server's log" >&2
  tail -n 40 "$dir/log" >&2
fi
exit "$status"
