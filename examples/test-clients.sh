#!/usr/bin/env bash
# Starts bin/server, once in plaintext and once with mutual TLS, and runs the example clients' tests against it. PYTHON is
# the interpreter that has gRPC. Without their packages it says what is missing; that is a failure where CI=true.
set -euo pipefail
cd "$(dirname "$0")"

missing=()
command -v node >/dev/null || missing+=(node)
[[ -d node/node_modules/@grpc/grpc-js ]] || missing+=("the npm packages of examples/node")
[[ -n "${PYTHON:-}" ]] || missing+=("a Python with grpc and google.protobuf")
for tool in protoc grpc_python_plugin openssl; do
  command -v "$tool" >/dev/null || missing+=("$tool")
done
if ((${#missing[@]})); then
  printf 'test-clients: missing: %s\n' "${missing[@]}" >&2
  echo "make deps installs them" >&2
  [[ "${CI:-}" != true ]] || exit 1
  exit 0
fi

dir=$(mktemp -d)
# The path of a socket has 107 bytes at most.
if ((${#dir} > 90)); then rm -r "$dir"; dir=$(mktemp -d -p /tmp); fi
server=
stop() {
  if [[ -n "$server" ]] && kill "$server" 2>/dev/null; then wait "$server" || true; fi
  server=
}
trap 'stop; rm -rf "$dir"' EXIT
# The server takes its settings from the flags alone, the clients theirs from here.
for name in "${!THRIFTPACK_@}"; do unset "$name"; done
python/generate.sh

# serve FLAGS... starts a server, and leaves its address in $address.
serve() {
  : >"$dir/log" # here, not by the server's redirection, which may come after the first look: that would find the line of a server before it
  ../bin/server --http-addr= --drain-delay=0s --schema-store=none "$@" 2>>"$dir/log" &
  server=$!
  address=
  for ((i = 0; i < 600; i++)); do
    address=$(sed -n 's/.*"msg":"serving".*"grpc":"\([^"]*\)".*/\1/p' "$dir/log")
    [[ -z "$address" ]] || return 0
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  echo "test-clients: the server did not start" >&2
  cat "$dir/log" >&2
  exit 1
}

status=0
run_clients() {
  local failed=0
  echo "== Node $(node --version), $1"
  (cd node && node --test) || failed=1
  echo "== Python $("$PYTHON" -c 'import grpc, platform; print(platform.python_version(), "with gRPC", grpc.__version__)'), $1"
  (cd python && "$PYTHON" -m unittest) || failed=1
  if ((failed)); then
    echo "== the server's log" >&2
    tail -n 40 "$dir/log" >&2
    status=1
  fi
  stop
}

# A socket rather than a port: nothing else can have taken it.
serve --grpc-addr="unix:$dir/grpc.sock"
THRIFTPACK_ADDR="unix:$dir/grpc.sock" run_clients "plaintext on a socket"

./certificates.sh "$dir/tls"
serve --grpc-addr=127.0.0.1:0 --tls-cert="$dir/tls/server.crt" --tls-key="$dir/tls/server.key" --tls-client-ca="$dir/tls/ca.crt"
THRIFTPACK_ADDR="localhost:${address##*:}" THRIFTPACK_CA="$dir/tls/ca.crt" THRIFTPACK_CERT="$dir/tls/client.crt" \
  THRIFTPACK_KEY="$dir/tls/client.key" run_clients "mutual TLS"
exit "$status"
