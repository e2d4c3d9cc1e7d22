#!/bin/sh
# Runs everything that needs a GPU, in the folder that `make gpu-bundle` fills, and ends with a short table: gpu-check.sh [OUT].
# It needs the NVIDIA driver; compute-sanitizer is used when it is there. Logs go to OUT.
cd "$(dirname "$0")" || exit 1
out=${1:-$(pwd)/out}
mkdir -p "$out"
table=$out/table
: >"$table"
failed=0

# check NAME COMMAND...: runs it and notes how it ended.
check() {
	name=$1
	shift
	begin=$(date +%s)
	if "$@" >"$out/$name.log" 2>&1; then
		result=ok
	else
		result=FAILED
		failed=1
		tail -5 "$out/$name.log"
	fi
	printf '%-34s %-7s %4d s\n' "$name" $result $(($(date +%s) - begin)) >>"$table"
}

# few SEEDS PATTERN COMMAND...: the tests that match, with that many random cases.
few() {
	seeds=$1
	pattern=$2
	shift 2
	env MOTIFD_TEST_SEEDS="$seeds" MOTIFD_TEST_SEED=7 "$@" ./cuda.test -test.run "$pattern"
}

# replays FOLDER: the program itself, on either backend and by its own choice: the same bytes.
replays() {
	./motifd-cuda version
	for backend in cpu cuda auto; do
		./motifd-cuda replay --graph "$1/graph.txt" --updates "$1/mixed.txt" --query "$1/queries" --undirected --batch 10 \
			--backend $backend --out "$out/$backend.jsonl" || return 1
		cmp "$out/cpu.jsonl" "$out/$backend.jsonl" || return 1
	done
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader >"$out/device" 2>&1
check cpu-against-gpu few "${CASES:-200}" TestP2BackendsAgree$
check cpu-against-gpu-larger few "${LARGER:-40}" TestP2BackendsAgreeOnLargerGraphs$
if [ -d kernels ] && { command -v nvcc || [ -x /usr/local/cuda/bin/nvcc ]; } >/dev/null; then
	check nvcc-sm90 kernels/nvcc.sh "$out/nvcc"
fi
if [ -x motifd-cuda ] && [ -d data/tiny_s1 ]; then
	check daemon-binary replays data/tiny_s1
fi
if [ -d data ]; then
	check known-data env MOTIFD_DATA="$(pwd)/data" ./cuda.test -test.run Data -test.v
fi
if command -v compute-sanitizer >/dev/null; then
	check memcheck few "${CHECKED:-20}" TestP2BackendsAgree$ compute-sanitizer --tool memcheck --error-exitcode 9
	# The tool knows barriers and no locks, so it would take stealing inside a block, which works under locks, for races.
	check racecheck-without-stealing few "${CHECKED:-20}" TestP2BackendsAgree$ env MOTIFD_TEST_NOSTEAL=1 \
		compute-sanitizer --tool racecheck --error-exitcode 9
	check initcheck few "${CHECKED:-20}" TestP2BackendsAgree$ compute-sanitizer --tool initcheck --error-exitcode 9
fi
check benchmark ./cuda.test -test.run XXX -test.bench 'Batch$' -test.benchtime 1x -motifd.queries 10 -motifd.limit 10s
check mixed-stream ./cuda.test -test.run XXX -test.bench 'MixedStream$' -test.benchtime 1x
check small-batches ./cuda.test -test.run XXX -test.bench 'SmallBatches$' -test.benchtime 20x
if [ "${LARGE:-0}" != 0 ]; then
	check benchmark-large ./cuda.test -test.run XXX -test.bench 'Batch$' -test.benchtime 1x -motifd.queries 10 -motifd.limit 10s \
		-motifd.vertices 4900000 -motifd.labels 30 -motifd.backends cpu,cuda
fi
cat "$out/device"
grep -hE '^(graph|total|rows)' "$out"/benchmark*.log
grep -hE '^mixed' "$out/mixed-stream.log"
grep -h 'SmallBatches/' "$out/small-batches.log"
cat "$table"
exit $failed
