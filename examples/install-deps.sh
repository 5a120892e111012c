#!/usr/bin/env bash
# Installs what the example clients need: the protobuf compiler with its well-known types, gRPC for Python and openssl from
# Debian, and the npm packages of node/. Apache's compiler is for the tests of the IDL parser, which skip what needs it.
set -euo pipefail
cd "$(dirname "$0")"

packages=(protobuf-compiler libprotobuf-dev protobuf-compiler-grpc python3-protobuf python3-grpcio openssl thrift-compiler)
if ! command -v node >/dev/null; then packages+=(nodejs); fi
if ! command -v npm >/dev/null; then packages+=(npm); fi

missing=()
for package in "${packages[@]}"; do
  [[ "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)" == *" installed" ]] || missing+=("$package")
done
if ((${#missing[@]})); then
  as_root=()
  if ((EUID != 0)); then as_root=(sudo); fi
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${missing[@]}"
fi
echo "Debian packages: ${packages[*]}"

# The lock file pins every version and its checksum.
(cd node && npm ci --no-progress)
