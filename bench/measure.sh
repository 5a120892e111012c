#!/usr/bin/env bash
# Measures all that docs/performance.md tells, into a folder that is then for `perfreport --measured`: less than half an hour on two
# CPUs that have nothing else to do.
#
#   measure.sh FOLDER [PIECE...]     pieces: codecs growth json calls streams profiles; all of them unless some are named
#
# What a step has measured replaces what was there when the step has ended well, so one that failed can be repeated by its piece. QUICK=1
# is for trying the script: every step, with figures of no use. TRIALS, SMALL_RUNS, LARGE_RUNS, BULK_RUNS, PAIRS, SHORT and LONG (the
# length of one side of a pair of calls), MOST (the largest payload, in bytes) and HUGE (--huge, or nothing) change one setting each.
set -euo pipefail
measured=${1:?usage: measure.sh FOLDER [codecs|growth|json|calls|streams|profiles]...}
shift
pieces=${*:-codecs growth json calls streams profiles}
for piece in $pieces; do
	case $piece in codecs | growth | json | calls | streams | profiles) ;; *) echo "measure.sh: there is no piece $piece" >&2; exit 2 ;; esac
done
if [ -n "${QUICK:-}" ]; then
	: "${TRIALS:=3}" "${SMALL_RUNS:=2000}" "${LARGE_RUNS:=1}" "${BULK_RUNS:=1}" "${PAIRS:=2}" "${SHORT:=40ms}" "${LONG:=40ms}" "${MOST:=4194304}"
	: "${HUGE=}" "${MIB:=32}" "${PROFILE:=300ms}" "${SERVED:=100ms}"
fi
: "${TRIALS:=9}" "${SMALL_RUNS:=100000}" "${LARGE_RUNS:=10}" "${BULK_RUNS:=3}" "${PAIRS:=16}" "${SHORT:=300ms}" "${LONG:=500ms}" "${MOST:=1073741824}"
: "${HUGE=--huge}" "${MIB:=1024}" "${PROFILE:=4s}" "${SERVED:=1500ms}"
cd "$(dirname "$0")"
mkdir -p "$measured/profiles" && measured=$(cd "$measured" && pwd)
programs=$(mktemp -d)
trap 'rm -rf "$programs" "$measured"/*.new' EXIT
trap 'echo "interrupted: what was measured before is in $measured" >&2; exit 130' INT TERM
{
	date -u +%Y-%m-%d
	git rev-parse --short HEAD 2>/dev/null || echo unknown
	cut -d' ' -f1-3 /proc/loadavg
} >"$measured/machine.txt"
go build -o "$programs" ./cmd/ratios ./cmd/rpcpairs ./cmd/streaming
PATH="$programs:$PATH"

# The steps: piece, about how many seconds it takes, file, and what it does.
codecs() { ratios --json --trials "$TRIALS" --small-runs "$SMALL_RUNS" --large-runs "$LARGE_RUNS" --bulk-runs "$BULK_RUNS" "$@"; }
pairs() { rpcpairs run --json --pairs "$PAIRS" "$@"; }
streams() { streaming "$@" --json; }
steps=(
	"codecs 100 codecs-structs.json codecs --scenarios *-cmp-write-small,*-cmp-read-small,*-cmp-write-large,*-cmp-read-large,*-bin-*-small,*-bin-*-large"
	"codecs 230 codecs-bulk.json codecs --scenarios *-cmp-write-list_*,*-cmp-write-map_*,*-cmp-write-binary_*,*-cmp-read-list_*,*-cmp-read-map_*,*-cmp-read-binary_*"
	"codecs 25 change.json ratios change --json --trials $TRIALS --small-runs $((5 * SMALL_RUNS)) --bulk-runs $BULK_RUNS"
	"growth 90 growth.json ratios growth --json --trials 5 --most $MOST"
	"json 45 json.json codecs --scenarios *-cmp-fromjson-*,*-cmp-tojson-*"
	"calls 160 calls-small.json pairs --workloads encode/small,decode/small --callers 1,8,64 --duration $SHORT"
	"calls 250 calls-large.json pairs --workloads encode/64KiB,decode/64KiB,encode/1MiB,decode/1MiB --duration $LONG"
	"calls 55 calls-batches.json pairs --workloads encode-batch/small,decode-batch/small --duration $SHORT"
	"calls 22 calls-unary.json pairs --batch-against-unary --duration $SHORT"
	"calls 120 calls-streams.json pairs --workloads encode-stream/binary,encode-stream/records --callers 1 --duration $LONG"
	"growth 75 calls-growth.json rpcpairs growth --json --pairs $(((PAIRS + 1) / 2)) --duration $SHORT --most $((MOST + MOST / 8))"
	"streams 30 streams.json streams run --mib $MIB"
	"streams 80 plateau.json streams plateau --mib $MIB --sizes $((MIB / 16)),$MIB $HUGE"
	"streams 15 plateau-i64.json streams plateau --mib $MIB --sizes $((MIB / 16)),$MIB --payloads i64"
	"streams 60 streampairs.json streams pairs --pairs $PAIRS --mib $((MIB / 8)) --payloads binary,i64"
	"streams 20 streampairs-chunks.json chunks"
	"profiles 20 - profiles ratios profile --scenarios tpwchunk-cmp-write-large,tp-cmp-read-small,tp-cmp-write-map_string_i64 --duration $PROFILE --folder"
	"profiles 13 - served encode-small --workloads encode/small"
	"profiles 13 - served encode-stream-records --workloads encode-stream/records --callers 1"
)
# chunks of 256 KiB, to a stock client and to one that only counts.
chunks() {
	for client in stock lean; do
		streams pairs --pairs "$PAIRS" --mib $((MIB / 4)) --methods EncodeStream --chunk-size 262144 --client "$client"
	done
}
profiles() { "$@" "$measured/profiles" >/dev/null; }
# served NAME FLAGS...: where our server's time goes.
served() {
	local name=$1 folder
	shift
	folder=$(mktemp -d -p "$programs")
	pairs --pairs 3 --against floor --duration "$SERVED" --profiles "$folder" "$@" >/dev/null
	mv "$folder/thriftpack.pprof" "$measured/profiles/server-$name.pprof"
}

say() { echo "$(date +%T) $*" >&2; }
wanted=() left=0 failed=()
for step in "${steps[@]}"; do
	read -r piece seconds _ <<<"$step"
	if [[ " $pieces " == *" $piece "* ]]; then
		wanted+=("$step")
		left=$((left + seconds))
	fi
done
number=0
for step in "${wanted[@]}"; do
	read -r piece seconds file words <<<"$step"
	read -ra command <<<"$words"
	number=$((number + 1))
	target=$measured/$file
	[ "$file" != - ] || target=/dev/null
	if [ -n "${QUICK:-}" ]; then remaining="quick"; else remaining="about $(((left + 59) / 60)) min left"; fi
	say "$number of ${#wanted[@]}, $remaining: $piece: $words"
	# Errors inside of a function in a condition do not end it, so each step is a shell of its own.
	set +e
	(
		set -e
		if [ "$file" = - ]; then
			"${command[@]}"
		else
			"${command[@]}" >"$target.new"
			mv "$target.new" "$target"
		fi
	)
	status=$?
	set -e
	if [ $status -gt 128 ]; then exit $status; fi
	if [ $status -ne 0 ]; then
		say "failed: $words"
		failed+=("$piece")
	fi
	left=$((left - seconds))
done
if [ ${#failed[@]} -gt 0 ]; then
	say "failed steps of: ${failed[*]}; to repeat: bench/measure.sh $measured $(printf '%s\n' "${failed[@]}" | sort -u | tr '\n' ' ')"
	exit 1
fi
say "measured, in $measured"
