#!/bin/sh
# The story of one account that everybody pays: what motifd does with 75 billion matches, while the other accounts have
# theirs. Each claim is checked; the status is 1 when one does not hold.
#
#   sh cmd/motifd/stories/one-hub.sh                  with limits that let it end within half a minute
#   LIMITS=default sh cmd/motifd/stories/one-hub.sh   with the default limits: some minutes, and 6 GB of disk
#
# MOTIFD is the program (default bin/motifd, see `make build`), PORT that of its admin interface (17475), DIR a
# directory that does not exist yet and stays (default: a temporary one that goes).
set -eu
motifd=${MOTIFD:-bin/motifd}
port=${PORT:-17475}
url=http://127.0.0.1:$port
case $motifd in */*) motifd=$(cd "$(dirname "$motifd")" && pwd)/$(basename "$motifd") ;; esac
if [ -n "${DIR:-}" ]; then mkdir "$DIR"; else DIR=$(mktemp -d); drop=$DIR; fi
cd "$DIR"

daemon=
end() {
	status=$?
	trap - EXIT
	[ -z "$daemon" ] || kill -KILL "$daemon" 2>/dev/null || true
	if [ $status != 0 ]; then echo "failed: $step" && tail -n 20 log 2>/dev/null; fi
	[ -z "${drop:-}" ] || rm -rf "$drop"
	exit $status
}
trap end EXIT
trap 'exit 1' INT TERM

step="preparing"
say() { step=$* && printf '\n== %s\n' "$*"; }

# expect WHAT HAS WANTED: both are numbers.
expect() {
	printf '   %-64s %s\n' "$1" "$2"
	[ "$2" -eq "$3" ] || { echo "   wanted $3" >&2 && exit 1; }
}

# records PART...: how many records of the output have all these parts.
records() {
	holding "$@" <out.jsonl
}

# holding PART...: how many lines of the standard input have all these parts.
holding() {
	if [ $# = 0 ]; then wc -l && return; fi
	part=$1 && shift
	{ grep -F -- "$part" || true; } | holding "$@"
}

# until WHAT COMMAND...: waits for the command to succeed.
until_true() {
	what=$1 && shift
	for _ in $(seq 1 3000); do
		if "$@" >/dev/null 2>&1; then return; fi
		kill -0 "$daemon" 2>/dev/null || { echo "the daemon ended while the story waited: $what" >&2 && exit 1; }
		sleep 0.1
	done
	echo "it never came: $what" >&2 && exit 1
}

# answers: the API answers within a second, whatever the engine is at.
answers() {
	"$motifd" query list --url "$url" --timeout 1s >list ||
		{ echo "the API does not answer within a second" >&2 && exit 1; }
}

# message OP LABEL: one record of the input, with sixty payments to one account and one that has nothing to do with it.
message() {
	printf '['
	for i in $(seq 1 60); do
		printf '{"op":"%s","from":"s%s","to":"payroll","label":"TRANSFER","from_label":"Account"},' "$1" "$i"
	done
	printf '{"op":"%s","from":"x","to":"y","label":"PAY"}]\n' "$1"
}

# small OP FROM TO...: one record of the input with one payment each.
small() {
	op=$1 && shift
	printf '['
	while [ $# -gt 0 ]; do
		printf '{"op":"%s","from":"%s","to":"%s","label":"GIFT"}' "$op" "$1" "$2"
		shift 2
		[ $# = 0 ] || printf ,
	done
	printf ']\n'
}

fan="MATCH (s0:Account)-[:TRANSFER]->(m)"
for i in 1 2 3 4 5 6 7 8 9; do fan="$fan, (s$i:Account)-[:TRANSFER]->(m)"; done
limits='engine: {limits: {group_matches: 20000, query_time: 3s, batch_time: 20s}}'
[ "${LIMITS:-}" != default ] || limits=
cat >motifd.yaml <<EOF
input: {format: json, file: {path: "-"}}
output: {file: {path: out.jsonl}}
batch: {max_updates: 61, linger: 50ms}
checkpoint: {dir: state}
admin: {listen: "127.0.0.1:$port"}
$limits
queries:
  - {name: pay, cypher: "MATCH (a)-[:PAY]->(b)"}
  - {name: gift, max_matches_per_batch: 1, cypher: "MATCH (a)-[:GIFT]->(b)"}
  - {name: count10, unit: subgraphs, emit: counts, cypher: "$fan"}
  - {name: any10, unit: subgraphs, emit: exists, cypher: "$fan"}
  - {name: first10, unit: subgraphs, max_matches_per_batch: 10, cypher: "$fan"}
  - {name: fan10, unit: subgraphs, cypher: "$fan"}
EOF

# begin: starts the daemon, with its input at descriptor 3.
begin() {
	rm -f input && mkfifo input
	"$motifd" run -c motifd.yaml --log-format json <input >>log 2>&1 &
	daemon=$!
	exec 3>input
	until_true "the daemon is ready" "$motifd" query list --url "$url"
}

# stop SIGNAL: ends the daemon.
stop() {
	kill "-$1" "$daemon"
	exec 3>&-
	{ wait "$daemon"; } 2>/dev/null && code=0 || code=$?
	daemon=
}

begin
say "Sixty accounts pay one. fan10 asks for ten that pay the same: 75,394,027,566 matches"
message + >&3
answers
until_true "the unrelated payment is reported" grep -q '"query":"pay"' out.jsonl
answers
"$motifd" query remove none --url "$url" --timeout 1s >/dev/null 2>&1 || true # a change is answered, too
until_true "the batch is committed" grep -q '"query":"fan10".*"op":"!"' out.jsonl
small + quiet after >&3
until_true "the next batch is reported" grep -q '"quiet"' out.jsonl
answers
expect "the payment that has nothing to do with it is reported" "$(records '"query":"pay"' '1,"op":"+"')" 1
expect "the exact number is" "$(sed -n 's/.*"query":"count10".*"count":\([0-9]*\).*/\1/p' out.jsonl)" 75394027566
expect "the query of existence says so, once" "$(records '"query":"any10"' '1,"op":"+"')" 1
expect "the query with a cap of 10 has ten matches" "$(records '"query":"first10"' '1,"op":"+"')" 10
printf '   %-64s %s\n' "fan10 lists, up to its limits" "$(records '"query":"fan10"' '1,"op":"+"')"
skipped=$(records '"query":"fan10"' '1,"op":"!"' '"reason":"skipped"')
printf '   %-64s %s\n' "and says in the same output what was left out, updates" "$skipped"
[ "$skipped" -gt 0 ]
written=$(wc -c <out.jsonl)
printf '   %-64s %s\n' "bytes of the output, which engine.limits.query_output bounds" "$written"
[ "$written" -lt 1300000000 ]

say "A cap of 1: four gifts in one batch, of which one is announced; then all are taken back"
before=$(records '"query":"gift"' '1,"op":"+"')
small + ann bob cid dan eve fay gus hal >&3
until_true "the gifts are reported" grep -q '"query":"gift".*"truncated"' out.jsonl
small - ann bob cid dan eve fay gus hal >&3
until_true "they are retracted" sh -c "[ \$(grep -c '\"query\":\"gift\".*\"op\":\"-\"' out.jsonl) -ge 4 ]"
expect "announced" "$(($(records '"query":"gift"' '1,"op":"+"') - before))" 1
expect "retracted: never cut, each says lossy_since" "$(records '"query":"gift"' '1,"op":"-"' '"lossy_since"')" 4

say "Everybody takes the payment back"
message - >&3
until_true "the unrelated one is retracted" grep -q '"query":"pay","version":1,"op":"-"' out.jsonl
small + quiet again >&3
until_true "the next batch is reported" grep -q '"again"' out.jsonl
answers
expect "the query of existence says so" "$(records '"query":"any10"' '1,"op":"-"')" 1
ended=$(records '"query":"fan10"' '1,"op":"!"' '"reason":"ended"')
printf '   %-64s %s\n' "edges whose every announced match is void" "$ended"
[ "$ended" -gt 0 ]

say "The flood comes again, and the daemon is killed in the middle of it"
message + >&3
until_true "records of the flood are written" sh -c "[ \$(grep -c '\"query\":\"pay\".*\"op\":\"+\"' out.jsonl) -ge 2 ]"
stop KILL
begin
until_true "the batch is finished" sh -c "[ \$(grep -c '\"query\":\"any10\".*\"op\":\"+\"' out.jsonl) -ge 2 ]"
small + quiet third >&3
until_true "the next batch is reported" grep -q '"third"' out.jsonl
expect "the unrelated payment is reported once more" "$(records '"query":"pay"' '1,"op":"+"')" 2

say "It is taken back and comes once more, and the daemon is told to stop in the middle"
message - >&3
message + >&3
until_true "records of the flood are written" sh -c "[ \$(grep -c '\"query\":\"pay\".*\"op\":\"+\"' out.jsonl) -ge 3 ]"
stop TERM
expect "its status" "$code" 0

say "The batch log is replayed"
"$motifd" replay --batch-log state --out - --log-level error 2>summary | cmp - out.jsonl
printf '   %-64s %s\n' "the same bytes as the daemon wrote" "$(wc -c <out.jsonl)"
printf '\nEverything held.\n'
