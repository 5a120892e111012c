#!/usr/bin/env bash
# Measures all that docs/performance.md tells of the codecs and of calls, into the folder given: about fifteen minutes on two
# CPUs that have nothing else to do. The folder is then for `perfreport --measured`.
set -euo pipefail
measured=${1:?usage: measure.sh FOLDER}
cd "$(dirname "$0")"
mkdir -p "$measured" && measured=$(cd "$measured" && pwd)
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
go build -o "$programs" ./cmd/ratios ./cmd/rpcpairs

say() { echo "$(date +%T) $*" >&2; }

say "codecs"
"$programs/ratios" --json --scenarios '*-cmp-*' --small-runs 100000 --large-runs 10 --bulk-runs 3 >"$measured/scenarios.json"
say "one transport write for each byte, or for each varint"
"$programs/ratios" change --json --small-runs 500000 --bulk-runs 5 >"$measured/change.json"
say "how the cost grows"
"$programs/ratios" growth --json --trials 5 >"$measured/growth.json"
say "calls"
rpc() { "$programs/rpcpairs" run --json --pairs 16 "$@"; }
{
	rpc --workloads encode/small,decode/small --callers 1,8,64 --duration 300ms
	rpc --workloads encode/64KiB,decode/64KiB,encode/1MiB,decode/1MiB --duration 500ms
	rpc --workloads encode-batch/small,decode-batch/small --duration 300ms
	rpc --batch-against-unary --duration 300ms
	rpc --workloads encode-stream/binary,encode-stream/records --callers 1 --duration 500ms
} >"$measured/rpc.json"
say "measured"
