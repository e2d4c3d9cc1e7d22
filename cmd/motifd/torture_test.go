//go:build kafka && unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/admin"
	"motifd/matcher/matchertest"
	"motifd/stream"
	"motifd/stream/kafka"
	kafkaadmin "motifd/stream/kafka/admin"
	"motifd/stream/kafka/brokertest"
)

// envNumber returns a number from the environment.
func envNumber(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err, name)
	return n
}

// TestP3Torture kills real daemons on a real broker with SIGKILL at random moments, and the broker now and then, while
// updates are produced and queries come and go: plain ones, with NOT, with paths, with WITH and, in the changelog,
// with once. In the end what Java's consumer holds under read_committed is, byte by
// byte, what `motifd replay --batch-log` writes, and the matches that it adds up to are the oracle's. A backup that was
// made while the daemon worked is restored once, and refused.
//
// TORTURE_KILLS, TORTURE_RESTARTS and TORTURE_SEED change how long it takes; `make torture` is the
// long form.
func TestP3Torture(t *testing.T) {
	seed := envNumber(t, "TORTURE_SEED", rand.Uint64())
	usual, modes := uint64(8), []string{"changelog", "upsert"}
	if matchertest.Quick(t) {
		usual, modes = 4, modes[:1]
	}
	kills := int(envNumber(t, "TORTURE_KILLS", usual))
	restarts := int(envNumber(t, "TORTURE_RESTARTS", 1))
	t.Logf("seed %d", seed)
	b := brokertest.Start(t, nil)
	for i, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			x := &torture{
				t: t, b: b, read: consumer(b), mode: mode, kills: kills, restarts: restarts,
				rng:   rand.New(rand.NewPCG(seed, uint64(2+i))),
				input: newTortureInput(seed+uint64(i), 2),
			}
			x.run()
			x.check()
			f := &x.figures
			for pattern := range tortureKinds { // some are registered all the time
				require.True(t, strings.Contains(pattern, "EXISTS") || slices.Contains(f.matched, pattern),
					"no match of %s", pattern)
			}
			if mode == "changelog" {
				require.Positive(t, f.told)
				require.Positive(t, f.dropped)
				t.Logf("once: %d positives, and %d dropped", f.told, f.dropped)
			}
		})
	}
}

// consumer reads topics with Java's consumer, up to the records that are the last of their partitions now.
func consumer(b *brokertest.Broker) func(t testing.TB, topic string) []brokertest.Record {
	return func(t testing.TB, topic string) []brokertest.Record {
		last := map[int]int64{}
		for _, r := range committed(t, b.Addr(), topic) {
			last[int(r.Partition)] = r.Offset
		}
		return b.Consume(t, topic, func(recs []brokertest.Record) bool {
			left := maps.Clone(last)
			for _, r := range recs {
				if end, ok := left[r.Partition]; ok && r.Offset >= end {
					delete(left, r.Partition)
				}
			}
			return len(left) == 0
		})
	}
}

// torture is one run.
type torture struct {
	t               *testing.T
	b               *brokertest.Broker
	read            func(t testing.TB, topic string) []brokertest.Record // under read_committed
	mode            string
	kills, restarts int
	rng             *rand.Rand
	input           *tortureInput
	menu            []string // patterns of the queries that come and go

	dir     string
	p       *process
	batch   uint64            // last seen
	queries map[string]active // at the end
	begin   time.Time
	figures struct {
		told, dropped                    int // positives of the query with once
		openIntents, changes, brokerDown int
		took                             time.Duration
		matched                          []string // patterns that have matches in the end
	}
}

// active is a registered query.
type active struct {
	Version uint64
	Pattern string
}

const tortureConfig = `
input: {kafka: {brokers: ["BROKER"], topic: MODE-in, group: MODE-group}}
output:
  mode: MODE
  kafka: {topic: MODE-out, dead_letter: MODE-dead, control: MODE-control, max_transaction_records: 10, compression: lz4}
batch: {linger: 20ms, max_updates: 200}
checkpoint: {dir: state, retention: {batches: 1000000000, bytes: 0}}
log: {format: json}
queries:
  - {name: ring, cypher: "MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(a)", backfill: full}
  - {name: path, cypher: "MATCH (a:A)-[:T]->(b:B)-[:U]->(c:A)", backfill: full}
  - {name: walk, cypher: "MATCH (a:A)-[p:T*1..3]->(b:B)", backfill: full}
  - {name: alone, cypher: "MATCH (a:A)-[:T]->(b:B) WHERE NOT (b)-[:U]->(a)", backfill: full}
`

// tortureMenu are the patterns of the queries that come and go, beside those of tortureKinds.
var tortureMenu = []string{
	"MATCH (a)-[:T]->(b)-[:U]->(a)",
	"MATCH (a:B)-[:T]->(b)-[:U]->(c)-[:T]->(a)",
	"MATCH (a:A)-[:U]->(b:A), (a)-[:T]->(c:B)",
	"MATCH (a:A)-->(b)-->(c:B)-->(a)",
	"MATCH (a)-[:T]->(b:B), (b)-[:U]->(c:A), (c)-[:T]->(d:B)",
}

func (x *torture) topic(name string) string { return x.mode + "-" + name }

func (x *torture) start() { x.p = start(x.t, x.dir) }

// kill kills the daemon and notes how its start had found things.
func (x *torture) kill() {
	x.p.kill()
	x.note()
}

func (x *torture) note() {
	for line := range strings.Lines(x.p.stderr.String()) {
		var r struct {
			Message string
			Open    int
		}
		if json.Unmarshal([]byte(line), &r) == nil && r.Message == "recovered" && r.Open > 0 {
			x.figures.openIntents++
		}
	}
}

func (x *torture) run() {
	t := x.t
	compact := map[string]string(nil)
	if x.mode == "upsert" { // compaction runs during the test
		compact = map[string]string{
			"cleanup.policy": "compact", "segment.ms": "1000", "min.cleanable.dirty.ratio": "0.01",
			"max.compaction.lag.ms": "1000", "delete.retention.ms": "3600000",
		}
	}
	require.NoError(t, kafkaadmin.EnsureTopics(t.Context(), kafka.ClientOptions{Brokers: []string{x.b.Addr()}},
		kafkaadmin.Topic{Name: x.topic("in"), Partitions: len(x.input.communities)},
		kafkaadmin.Topic{Name: x.topic("out"), Partitions: 3, Config: compact},
		kafkaadmin.Topic{Name: x.topic("dead")}, kafkaadmin.Topic{Name: x.topic("control")},
		kafkaadmin.ProgressTopic(x.topic("out-progress"))))
	config := strings.NewReplacer("BROKER", x.b.Addr(), "MODE", x.mode).Replace(tortureConfig)
	for _, pattern := range slices.Sorted(maps.Keys(tortureKinds)) {
		if strings.Contains(pattern, "WITH ") {
			config += fmt.Sprintf("  - {name: busy, cypher: %q, backfill: full}\n", pattern)
		}
		x.menu = append(x.menu, pattern)
	}
	x.menu = append(x.menu, tortureMenu...)
	if x.mode != "upsert" {
		config += strings.TrimPrefix(tortureOnce, "\n")
	}
	x.dir = write(t, map[string]string{"motifd.yaml": config})
	x.begin = time.Now()
	ctx, stop := context.WithCancel(t.Context())
	produced := make(chan error, 1)
	go func() { produced <- x.input.produce(ctx, x.b.Addr(), x.topic("in"), 10*time.Millisecond) }()
	x.start()
	x.backUp()
	for k := range x.kills {
		x.cycle()
		if x.restarts > 0 && (k+1)%max(x.kills/x.restarts, 1) == 0 && (k+1)/max(x.kills/x.restarts, 1) <= x.restarts {
			x.restartBroker()
		}
	}
	x.restoreOld()
	x.p.ready()
	x.changeQueries()
	if x.mode == "upsert" {
		x.p.until("compaction had removed records", x.compacting)
	}
	stop()
	require.NoError(t, <-produced)
	x.finish()
}

// backUp copies the checkpoint while the daemon works, once it has put something out.
func (x *torture) backUp() {
	x.p.ready()
	x.p.until("there was progress", func() bool { return x.p.status().Batch > 5 })
	succeed(x.t, x.dir, "checkpoint", "backup", "state", "old")
	require.Contains(x.t, succeed(x.t, x.dir, "checkpoint", "verify", "old").stdout, "intact")
}

// restoreOld kills the daemon and starts one on the backup, which the output has gone beyond: it is refused, and the
// right one goes on.
func (x *torture) restoreOld() {
	t := x.t
	x.p.ready()
	batch := x.p.status().Batch
	x.p.until("there was progress", func() bool { return x.p.status().Batch > batch+2 })
	x.kill()
	r := motifd(t, x.dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=", "--checkpoint", "old")
	require.Equal(t, exitFailed, r.code, r.stderr)
	require.Contains(t, r.stderr, stream.ErrOldCheckpoint.Error())
	require.Contains(t, r.stderr, "restore the newest copy")
	require.Contains(t, succeed(t, x.dir, "checkpoint", "verify", "old").stdout, "intact")
	x.start()
}

// finish lets the daemon take what was produced, and stops it.
func (x *torture) finish() {
	t := x.t
	x.p.until("all input was taken", x.taken)
	x.figures.took = time.Since(x.begin)
	var list admin.QueryList
	require.NoError(t, json.Unmarshal([]byte(x.p.ask("GET", "/api/v1/queries", "").body), &list))
	x.queries = map[string]active{}
	for _, q := range list.Queries {
		if !q.Suspended { // by a removal that a kill has kept from coming behind the end of the registration
			x.queries[q.Name] = active{q.Version, q.Pattern}
		}
	}
	x.p.stop()
	x.note()
}

// taken tells whether all that was produced is committed. Nothing is being produced any more.
func (x *torture) taken() bool {
	at := x.p.status().Positions
	for p, c := range x.input.communities {
		if at[strconv.Itoa(p)] < int64(len(c.sent)) {
			return false
		}
	}
	return true
}

// cycle lets the daemon work for a while, kills it at a random moment and starts it again.
func (x *torture) cycle() {
	var wg sync.WaitGroup
	if x.rng.IntN(4) > 0 { // otherwise it may be killed while it recovers
		x.p.ready()
		x.p.until("there was progress", func() bool { return x.p.status().Batch > x.batch })
		x.batch = x.p.status().Batch
		if x.rng.IntN(2) == 0 {
			method, path, body := x.change()
			wg.Go(func() { _, _ = send(x.p.url, method, path, body) }) // it may be killed before it answers
		}
	}
	// No wait for anything: the kill comes at a random moment, which is what is tested.
	time.Sleep(time.Duration(x.rng.IntN(400)) * time.Millisecond)
	x.kill()
	wg.Wait()
	x.start()
}

// change is a random query change.
func (x *torture) change() (method, path, body string) {
	x.figures.changes++
	name := fmt.Sprintf("q%d", x.rng.IntN(4))
	if x.rng.IntN(3) == 0 {
		return "DELETE", "/api/v1/queries/" + name, ""
	}
	text, err := json.Marshal(admin.NewQuery{Name: name, Cypher: x.menu[x.rng.IntN(len(x.menu))], Backfill: "full"})
	require.NoError(x.t, err)
	return "POST", "/api/v1/queries", string(text)
}

// changeQueries makes a few changes that are answered.
func (x *torture) changeQueries() {
	for range 5 {
		method, path, body := x.change()
		code := 0
		x.p.until("it took a query change", func() bool { // it takes none while it waits for a broker
			var err error
			code, err = send(x.p.url, method, path, body)
			require.NoError(x.t, err)
			return code != http.StatusServiceUnavailable
		})
		require.Contains(x.t, []int{200, 202, 404, 409}, code) // 200: it is registered just like that
	}
}

// compacting tells whether compaction has removed matches from the output that were cancelled.
func (x *torture) compacting() bool {
	there, gone := map[string]bool{}, 0
	for _, r := range committed(x.t, x.b.Addr(), x.topic("out")) {
		if r.Value == nil && !there[string(r.Key)] {
			gone++
		}
		there[string(r.Key)] = r.Value != nil
	}
	return gone > 20
}

// restartBroker kills the broker and starts it again: while the daemon runs, or while it is killed as well.
func (x *torture) restartBroker() {
	if x.rng.IntN(2) == 0 {
		x.b.Restart(x.t)
		return
	}
	x.figures.brokerDown++
	x.b.Kill()
	// The daemon is without a broker for a random while before it dies as well.
	time.Sleep(time.Duration(x.rng.IntN(300)) * time.Millisecond)
	x.kill()
	x.start()
	x.b.Launch(x.t)
}
