#!/bin/sh
# Runs everything that needs a GPU, in the folder that `make gpu-bundle` fills, and ends with a short table:
# gpu-check.sh [OUT]. It needs the NVIDIA driver; nvcc, compute-sanitizer and ncu are used when they are there, and what
# is not checked for want of them is told. Logs go to OUT. ONLY names the checks to run, if not all: they fail if they
# cannot; CASES, CONDITIONS, NEGATIONS, LOOSE, LARGER, BLOCKS, ARRAYS, LIMITS, PARTS and CHECKED the numbers of random
# cases, SEED the first one; LIMIT the seconds that memcheck and initcheck may take for a case; JOBS how many cases
# racecheck watches at once; LARGE=1 adds the large benchmark, PEER=FILE that with RapidFlow's program beside it.
cd "$(dirname "$0")" || exit 1
out=${1:-$(pwd)/out}
failed=0

# check NAME COMMAND...: runs it and notes how it ended.
check() {
	name=$1
	shift
	case " ${ONLY:-$name} " in
	*" $name "*) ;;
	*) return ;;
	esac
	begin=$(date +%s)
	"$@" >"$out/$name.log" 2>&1
	case $? in
	0) result=ok ;;
	124) result=CUT failed=1 ;;
	*) result=FAILED failed=1 ;;
	esac
	if [ $result != ok ]; then
		tail -5 "$out/$name.log"
	fi
	printf '%-34s %-7s %4d s\n' "$name" $result $(($(date +%s) - begin)) >>"$table"
}

# absent NAME WHY: what a check needs is not there.
absent() {
	case " ${ONLY:-$1} " in
	*" $1 "*) ;;
	*) return ;;
	esac
	[ -z "${ONLY:-}" ] || failed=1
	printf '%-34s %-7s %s\n' "$1" absent "$2" >>"$table"
}

# few SEEDS PATTERN COMMAND...: the tests that match, with that many random cases.
few() {
	seeds=$1
	pattern=$2
	shift 2
	env MOTIFD_TEST_SEEDS="$seeds" MOTIFD_TEST_SEED="${SEED:-7}" "$@" \
		"./${TESTS:-cuda}.test" -test.v -test.run "$pattern"
}

# arrays SEEDS PATTERN COMMAND...: few for the tests of the device's array.
arrays() { (
	TESTS=mirror
	few "$@"
); }

# agree ARGS...: the program itself, on either backend and by its own choice: the same bytes.
agree() {
	for backend in cpu cuda auto; do
		./motifd-cuda "$@" --log-level error --backend $backend --out "$out/$backend.jsonl" || return 1
		cmp "$out/cpu.jsonl" "$out/$backend.jsonl" || return 1
	done
	wc -l "$out/cpu.jsonl"
}

# replays FOLDER...: undirected graphs and their streams, in batches of one to all; what the graphs hold; and, of what
# has too many matches for that, few.
replays() {
	./motifd-cuda version
	for set in "$@"; do
		for stream in insert mixed; do
			for batch in 1 10 1000000; do
				agree replay --graph "$set/graph.txt" --updates "$set/$stream.txt" --query "$set/queries" \
					--undirected --batch $batch || return 1
			done
		done
		agree match --graph "$set/graph.txt" --query "$set/queries" --undirected || return 1
	done
}

# synth FOLDER: some queries of a larger stream.
synth() {
	for stream in insert mixed; do
		for batch in 100 1000000; do
			agree replay --graph "$1/graph.txt" --updates "$1/$stream.txt" --undirected --batch $batch \
				--query "$1/queries/Q_0.txt" --query "$1/queries/Q_4.txt" \
				--query "$1/queries/Q_10.txt" --query "$1/queries/Q_12.txt" || return 1
		done
	done
}

# payments FOLDER: streams of directed payments, one of them with vertices that are deleted; with batches from some
# updates to tens of thousands.
payments() {
	edge="-[:transfer]->"
	printf 'MATCH (a)%s(b)%s(c)%s(a)\n' "$edge" "$edge" "$edge" >"$out/ring3.cypher"
	printf 'MATCH (a)%s(b)%s(c)%s(d)%s(a)\n' "$edge" "$edge" "$edge" "$edge" >"$out/ring4.cypher"
	printf 'MATCH (a)%s(b)%s(c), (a)%s(d)%s(c), (c)-[:withdraw]->(e)\n' \
		"$edge" "$edge" "$edge" "$edge" >"$out/mules.cypher"
	for batch in 7 1000 50000; do
		agree replay --updates "$1/finbench/finbench_sf0.01_stream.csv.gz" \
			--csv from=from,to=to,label=kind,op=op,ts=time_ms,vertex=kind:account \
			--query "$out/ring3.cypher" --query "$out/ring4.cypher" \
			--query "$out/mules.cypher" --batch $batch || return 1
	done
	for set in 20K_cycle200 20K_fanin200cycle200; do
		agree replay --updates "$1/amlsim-20k/$set/transactions.csv.gz" \
			--csv "from=sourceNodeId,to=targetNodeId,ts=time,prop.value=value,label='transfer'" \
			--query "$out/ring3.cypher" --query "$out/ring4.cypher" --unit subgraphs --batch 500 || return 1
	done
}

# conditions FOLDER: payments with ids, so that many are parallel, which expire, and what is asked of several of them.
conditions() {
	zcat "$1/amlsim-20k/20K_cycle200/transactions.csv.gz" |
		awk -F, 'NR == 1 { print "id," $0 } NR > 1 { print NR "," $0 }' >"$out/parallel.csv"
	cat >"$out/pass.cypher" <<-'END'
	MATCH (a)-[i:transfer]->(m)-[o:transfer]->(b)
	WHERE i.ts <= o.ts <= i.ts + 2 AND 100 * o.value >= 99 * i.value AND 100 * o.value <= 101 * i.value
	END
	cat >"$out/split.cypher" <<-'END'
	MATCH (a)-[s:transfer]->(b), (a)-[t:transfer]->(b)-[u:transfer]->(c)
	WHERE s.ts < t.ts AND (s.value + t.value <= u.value OR u.value = 3 * s.value) AND u.ts - t.ts < 3
	END
	for batch in 500 20000; do
		agree replay --updates "$out/parallel.csv" \
			--csv "id=id,from=sourceNodeId,to=targetNodeId,ts=time,prop.value=value,label='transfer'" \
			--properties 'edges: {transfer: {value: decimal(2), ts: timestamp}}' --retention transfer=20ms \
			--query "$out/pass.cypher" --query "$out/split.cypher" --batch $batch || return 1
	done
}

# static FOLDER: the counts of a graph that does not change, by either backend.
static() {
	for backend in cpu cuda; do
		./motifd-cuda match --graph "$1/graph.txt" --query "$1/queries" --undirected --backend $backend \
			--summary "$out/$backend.json" || return 1
		grep -o '"\(name\|matches\)": *[^,]*' "$out/$backend.json" >"$out/$backend.counts"
	done
	test -s "$out/cpu.counts" && cmp "$out/cpu.counts" "$out/cuda.counts"
}

# timeline FOLDER: a stream on the GPU, with when each batch was decoded, copied, searched and published, in a file for
# ui.perfetto.dev and summed up in the log.
timeline() {
	./motifd-cuda replay --graph "$1/graph.txt" --updates "$1/mixed.txt" --query "$1/queries/Q_0.txt" \
		--query "$1/queries/Q_15.txt" --undirected --batch 1000 --backend cuda --out /dev/null \
		--trace "$out/timeline.json" --trace-batches 20
}

# large is the benchmark of a graph of LiveJournal's size.
large() {
	./cuda.test -test.run XXX -test.bench 'Batch$' -test.benchtime 1x -motifd.limit 10s \
		-motifd.vertices 4900000 -motifd.labels 30 -motifd.backends cpu,cuda -motifd.passes 5 "$@"
}

# beside PROGRAM: the same for three queries of a class, with RapidFlow on the same case: all its processes, of one
# thread each, at once, PEER_LIMIT seconds each.
beside() {
	rm -rf "$out/case"
	large -motifd.queries 3 -motifd.write "$out/case" || return 1
	for query in "$out"/case/queries/*.txt; do
		timeout "${PEER_LIMIT:-300}" "$1" -d "$out/case/graph.txt" -q "$query" -u "$out/case/insert.txt" -num MAX \
			-time_limit "${PEER_LIMIT:-300}" >"$out/peer.$(basename "$query" .txt)" 2>&1 &
	done
	wait
	rm -rf "$out/case"
	for log in "$out"/peer.*; do
		printf 'peer %-9s %s\n' "${log##*.}" \
			"$(grep -E '^(Preprocessing time|Query time|Result count)' "$log" | sort -u | tr '\n' ' ')"
	done
}

# checked are the tests that compute-sanitizer watches; of those of the array it watches the races apart, as they have
# no locks.
checked='Test(P2(BackendsAgree|LooseEdges)|S12BlocksOfMatches|NoRowIsFoundTwice)$'
array='TestA(9DeviceArray|26Rows)'

# each TOOL: compute-sanitizer watches one case after the other, each in a process of its own and for LIMIT seconds at
# most. The log ends with the cases that were cut off, and those that failed.
each() {
	cut= bad= seed=${SEED:-7} limit=${LIMIT:-60}
	last=$((seed + ${CHECKED:-20} - 1))
	while [ "$seed" -le $last ]; do
		SEED=$seed few 1 "$checked" timeout -k 5 "$limit" compute-sanitizer --tool "$1" --error-exitcode 9 &&
			SEED=$seed arrays 1 "$array" timeout -k 5 "$limit" compute-sanitizer --tool "$1" --error-exitcode 9
		case $? in
		0) ;;
		124 | 137) cut="$cut $seed" ;;
		*) bad="$bad $seed" ;;
		esac
		seed=$((seed + 1))
	done
	if [ -n "$cut" ]; then echo "$1: cut off after $limit s, seeds$cut"; fi
	if [ -n "$bad" ]; then
		echo "$1: failed, seeds$bad"
		return 1
	fi
	[ -z "$cut" ] || return 124
}

# races runs racecheck with stealing, each case and each stream of the tiny sets in a process of its own, JOBS at once;
# it has the hazards of all told from races: racecheck knows barriers and no locks (TestRaces).
races() {
	first=${SEED:-7} ended=0 base=1024
	case $(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1) in 7.*) base=0 ;; esac
	rm -f "$out"/racecheck.*.raw
	{
		[ ! -d data/tiny_s1 ] || (cd data && ls -d tiny_s*/insert.txt tiny_s*/mixed.txt)
		seq "$first" $((first + ${CHECKED:-20} - 1))
	} | xargs -P "${JOBS:-4}" -n 1 "./$(basename "$0")" race "$out" || ended=1
	MOTIFD_RACECHECK_LOG=$(printf '%s:' "$out"/racecheck.*.raw | sed 's/:$//') MOTIFD_SHARED_BASE=$base \
		./cuda.test -test.v -test.run TestRaces$ || ended=1
	rm -f "$out"/racecheck.*.raw
	return $ended
}

# arrayraces: racecheck of the array's tests, which may have no hazard at all.
arrayraces() {
	arrays "${ARRAYRACES:-2}" "$array" compute-sanitizer --tool racecheck --error-exitcode 9
}

# race CASE: one case of races, a seed or the file of a stream.
race() {
	case $1 in
	*.txt) tests=TestDataBackendsAgree/${1%.txt}/ seed=7 log=$(printf %s "$1" | tr / -) ;;
	*) tests=$checked seed=$1 log=$1 ;;
	esac
	MOTIFD_DATA="$(pwd)/data" SEED=$seed few 1 "$tests" compute-sanitizer --tool racecheck --racecheck-report hazard \
		--print-limit 1000000000 --show-backtrace no --log-file "$out/racecheck.$log.raw"
	ended=$?
	echo "racecheck of $1 ended with $ended"
	return $ended
}

if [ "${1:-}" = race ]; then # one of those that races starts
	out=$2
	race "$3"
	exit
fi

mkdir -p "$out"
table=$out/table
: >"$table"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader >"$out/device" 2>&1
# without what the driver keeps of PTX it compiled
check code env CUDA_CACHE_DISABLE=1 ./kernels.test -test.run 'CodeOfTheDevice$' -test.v
check kernels ./kernels.test -test.run 'Sort|Streams' -test.count 5 -test.bench Sort -test.benchtime 1x
check cpu-against-gpu few "${CASES:-200}" TestP2BackendsAgree$
check conditions few "${CONDITIONS:-60}" 'TestS17Device(TestsConditions|ComputesExactly|ComputesAsTheCPU)$'
check negations few "${NEGATIONS:-60}" 'TestS25(DeviceTestsNegationsOfOneEdge|CoreOnTheDevice)$'
check device-array arrays "${ARRAYS:-40}" "$array"
check blocks-of-matches few "${BLOCKS:-40}" TestS12BlocksOfMatches$
check parallel-edges few "${LOOSE:-40}" 'Test(P2BackendsAgreeOnParallelEdges|A17DeviceCountsParallelEdges)$'
check loose-edges few "${LOOSE:-40}" TestP2LooseEdges$
check cpu-against-gpu-larger few "${LARGER:-40}" TestP2BackendsAgreeOnLargerGraphs$
check limits few "${LIMITS:-20}" 'Test(S11.*|StopsSoonOnTheDevice|P2LostMidway)$'
check beyond-memory few "${PARTS:-20}" 'Test(NoRowIsFoundTwice|TiesBeyondMemory|P2LostMidway)$'
if [ -d kernels ] && { command -v nvcc || [ -x /usr/local/cuda/bin/nvcc ]; } >/dev/null; then
	check nvcc-sm90 kernels/nvcc.sh "$out/nvcc"
else
	absent nvcc-sm90 "no nvcc"
fi
# data FOLDER CHECK COMMAND...: a check that reads a folder.
data() {
	folder=$1
	shift
	if [ -d "$folder" ]; then
		check "$@"
	else
		absent "$1" "no $folder"
	fi
}
data data/tiny_s1 daemon-binary replays data/tiny_s1 data/tiny_s2 data/tiny_s3
data data/synth synth synth data/synth
data data/finbench payments payments data
data data/amlsim-20k payments-asked conditions data
data data/hprd static static data/hprd
data data/synth timeline timeline data/synth
data data known-data env MOTIFD_DATA="$(pwd)/data" ./cuda.test -test.run Data -test.v
if command -v compute-sanitizer >/dev/null; then
	export MOTIFD_TEST_FEW=1 # small grids
	for tool in memcheck initcheck; do
		check $tool each $tool
		data data "tiny-$tool" env MOTIFD_DATA="$(pwd)/data" compute-sanitizer --tool $tool \
			--error-exitcode 9 ./cuda.test -test.run Data -test.v
	done
	check racecheck races
	check racecheck-array arrayraces
	unset MOTIFD_TEST_FEW
else
	for tool in memcheck tiny-memcheck initcheck tiny-initcheck racecheck racecheck-array; do
		absent $tool "no compute-sanitizer"
	done
fi
check benchmark ./cuda.test -test.run XXX -test.bench 'Batch$' -test.benchtime 1x -motifd.queries 10 -motifd.limit 10s
check graph-update ./mirror.test -test.run XXX -test.bench 'GraphUpdate$' -test.benchtime 1x
check ablation ./cuda.test -test.run XXX -test.bench 'Ablation$' -test.benchtime 1x -motifd.limit 4s
for level in plain block blocks whole flat; do
	if command -v ncu >/dev/null; then
		metrics=sm__warps_active.avg.pct_of_peak_sustained_active,smsp__thread_inst_executed_per_inst_executed.ratio
		check "occupancy-$level" ncu --clock-control none --csv -k regex:wbm --launch-count 1 \
			--metrics $metrics,smsp__inst_executed.sum,gpu__time_duration.sum \
			./cuda.test -test.run XXX -test.bench 'Ablation$' -test.benchtime 1x \
			-motifd.levels $level -motifd.only tree07 -motifd.want counts -motifd.repeat 1
	else
		absent "occupancy-$level" "no ncu"
	fi
done
check flood ./cuda.test -test.run XXX -test.bench 'Flood$' -test.benchtime 1x -motifd.limit 120s
check mixed-stream ./cuda.test -test.run XXX -test.bench 'MixedStream$' -test.benchtime 1x
check small-batches ./cuda.test -test.run XXX -test.bench 'SmallBatches$' -test.benchtime 20x
if [ "${LARGE:-0}" != 0 ]; then
	check benchmark-large large -motifd.queries 10
fi
if [ -n "${PEER:-}" ]; then
	check benchmark-peer beside "$PEER"
fi
for name in ${ONLY:-}; do
	grep -q "^$name " "$table" && continue
	printf '%-34s %-7s %s\n' "$name" unknown "there is no such check, or it was not asked for (LARGE, PEER)" >>"$table"
	failed=1
done
cat "$out/device"
grep -hs 'cut off after' "$out"/*.log
grep -hs '^open' "$out/code.log"
grep -hsE '^(graph|query|dense|sparse|tree|total|together|rows|peer)' "$out"/benchmark*.log
grep -hs '^ablation' "$out/ablation.log"
grep -hs '"wbm' "$out"/occupancy-*.log
grep -hsE '^update' "$out/graph-update.log"
grep -hsE '^flood' "$out/flood.log"
grep -hsE '^mixed median' "$out/mixed-stream.log"
[ ! -f "$out/timeline.log" ] || sed -n '/^ *lane/,$p' "$out/timeline.log"
grep -hs 'SmallBatches/' "$out/small-batches.log"
cat "$table"
exit $failed
