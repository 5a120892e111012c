#!/usr/bin/env bash
# Installs what the example clients need: the protobuf compiler with its well-known types, gRPC for Python and openssl from
# Debian, and the npm packages of node/. Apache's compiler is for the tests of the IDL parser, which skip what needs it.
set -euo pipefail
cd "$(dirname "$0")"

packages=(protobuf-compiler libprotobuf-dev protobuf-compiler-grpc python3-protobuf python3-grpcio openssl)
if ! command -v node >/dev/null; then packages+=(nodejs); fi
if ! command -v npm >/dev/null; then packages+=(npm); fi
optional=(thrift-compiler)

# missing PACKAGES... prints those that are not installed.
missing() {
  local package
  for package in "$@"; do
    [[ "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)" == *" installed" ]] || echo "$package"
  done
}

# thrice COMMAND... gives networks, and whoever else installs packages just now, two more chances.
thrice() {
  "$@" && return
  sleep 5
  "$@" && return
  sleep 20
  "$@"
}

as_root=()
if ((EUID != 0)); then as_root=(sudo); fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"; }

mapfile -t wanted < <(missing "${packages[@]}")
mapfile -t liked < <(missing "${optional[@]}")
if ((${#wanted[@]} + ${#liked[@]})); then
  thrice apt update || echo "apt-get update failed; perhaps what is known of packages is enough" >&2
fi
if ((${#wanted[@]})); then
  thrice apt install -y --no-install-recommends "${wanted[@]}"
fi
if ((${#liked[@]})); then
  apt install -y --no-install-recommends "${liked[@]}" || echo "without ${liked[*]} some tests are skipped" >&2
fi
echo "Debian packages: ${packages[*]} ${optional[*]}"

# The lock file pins every version and its checksum.
cd node
thrice npm ci --no-progress
