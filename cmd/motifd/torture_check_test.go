//go:build kafka && unix

package main

import (
	"cmp"
	"crypto/sha256"
	bin "encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/config"
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/stream/kafka"
	"motifd/stream/kafka/brokertest"
)

// send sends a request of the admin interface and returns the status.
func send(url, method, path, body string) (int, error) {
	req, err := http.NewRequest(method, url+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// named is a consumed record with its name.
type named struct {
	brokertest.Record
	batch, index uint64
}

// consume reads a topic under read_committed, and returns the records in the order of their names.
// doubled counts those that are there more than once. Inside a partition they must be in that order already.
func (x *torture) consume(topic string) (recs []named, doubled int) {
	t := x.t
	last := map[int]named{}
	for _, r := range x.read(t, topic) {
		n := named{Record: r}
		var err error
		n.batch, err = strconv.ParseUint(r.Headers[kafka.HeaderBatch], 10, 64)
		require.NoError(t, err)
		n.index, err = strconv.ParseUint(r.Headers[kafka.HeaderIndex], 10, 64)
		require.NoError(t, err)
		if before, ok := last[r.Partition]; ok {
			require.Negative(t, byName(before, n), "order in partition %d of %s", r.Partition, topic)
		}
		last[r.Partition] = n
		recs = append(recs, n)
	}
	slices.SortFunc(recs, byName)
	for i := 1; i < len(recs); i++ {
		if byName(recs[i-1], recs[i]) == 0 {
			doubled++
		}
	}
	return recs, doubled
}

func byName(a, b named) int {
	return cmp.Or(cmp.Compare(a.batch, b.batch), cmp.Compare(a.index, b.index))
}

// check compares what a consumer holds with the replay of the batch log, and what it adds up to with the oracle.
func (x *torture) check() {
	t := x.t
	replayed := succeed(t, x.dir, "replay", "--batch-log", "state", "--dead-letter", "dead.jsonl", "--control",
		"control.jsonl").stdout
	want := slices.Collect(strings.Lines(replayed))
	out, doubled := x.consume(x.topic("out"))
	require.Zero(t, doubled)
	var standing map[string]string // match id -> value
	if x.mode == "upsert" {
		standing = x.compacted(want, out)
	} else {
		standing = x.identical(want, out)
	}
	for topic, file := range map[string]string{"dead": "dead.jsonl", "control": "control.jsonl"} {
		recs, doubled := x.consume(x.topic(topic))
		require.Zero(t, doubled, topic)
		x.sameLines(topic, readFile(t, filepath.Join(x.dir, file)), recs)
	}
	messages, updates, refused := x.oracle(standing)
	require.Equal(t, refused, strings.Count(readFile(t, filepath.Join(x.dir, "dead.jsonl")), "\n"))
	x.offsets()
	require.Contains(t, succeed(t, x.dir, "checkpoint", "verify", "state").stdout, "intact")
	batches := strings.Count(readFile(t, filepath.Join(x.dir, "control.jsonl")), "\n")
	f := &x.figures
	t.Logf("%s: %d daemons and %d brokers killed in %s (%d times both at once), %d starts found a batch in "+
		"progress; %d "+
		"messages, "+
		"%d updates, %d refused, %d query changes asked for; %d batches, %d records: 0 lost, 0 doubled; %d matches "+
		"in the end, as the oracle",
		x.mode, x.kills+f.brokerDown, x.restarts, f.took.Round(time.Second), f.brokerDown, f.openIntents, messages,
		updates, refused,
		f.changes, batches, len(want), len(standing))
}

// identical holds that the consumed records are the lines of the replay, and adds them up.
func (x *torture) identical(want []string, got []named) map[string]string {
	t := x.t
	x.sameLines("out", strings.Join(want, ""), got)
	standing := map[string]string{}
	var once []string // of the query with once and its twin
	for _, r := range got {
		var d struct {
			Op, Query, Limit string
			Version          uint64
		}
		require.NoError(t, json.Unmarshal([]byte(r.Value), &d))
		if d.Op == "!" { // the registration was ended by a removal
			require.Equal(t, "operator", d.Limit, r.Value)
			continue
		}
		if d.Query == "alert" || d.Query == "pairs" {
			once = append(once, r.Value)
		}
		if d.Query == "alert" { // no negatives tell of its matches' ends
			continue
		}
		_, there := standing[r.Key]
		require.Equal(t, d.Op == "-", there, "a match appears when it is not there, and disappears when it is")
		if there {
			delete(standing, r.Key)
		} else {
			standing[r.Key] = r.Value
		}
	}
	x.figures.told, x.figures.dropped = x.onceTold(once)
	return x.current(standing)
}

// current drops what is not of a query that is registered: in a changelog the removal of a query emits nothing, and the
// notices of a registration that a removal has ended stay in upsert topics, too.
func (x *torture) current(standing map[string]string) map[string]string {
	maps.DeleteFunc(standing, func(_, value string) bool {
		var d struct {
			Query   string
			Version uint64
		}
		require.NoError(x.t, json.Unmarshal([]byte(value), &d))
		return x.queries[d.Query].Version != d.Version
	})
	return standing
}

// sameLines compares records with lines, byte by byte.
func (x *torture) sameLines(what, want string, got []named) {
	t := x.t
	i := 0
	for line := range strings.Lines(want) {
		require.Less(t, i, len(got), "%s: lost: %s", what, line)
		require.Equal(t, line, got[i].Value+"\n", "%s: record %d", what, i)
		i++
	}
	require.Len(t, got, i, "%s: more than the replay wrote", what)
}

// compacted holds that what is left of the upsert topic is a part of the replay's lines, in their order, and adds up to
// the same.
func (x *torture) compacted(want []string, got []named) map[string]string {
	t := x.t
	add := func(m map[string]string, key, value string) {
		if value == "null" || value == brokertest.Null {
			delete(m, key)
		} else {
			m[key] = value
		}
	}
	sum, left := map[string]string{}, map[string]string{}
	i := 0
	for _, line := range want {
		var r struct {
			Key   string
			Value json.RawMessage
		}
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		add(sum, r.Key, string(r.Value))
		if i < len(got) && got[i].Key == r.Key &&
			(got[i].Value == string(r.Value) || got[i].Value == brokertest.Null && string(r.Value) == "null") {
			add(left, got[i].Key, got[i].Value)
			i++
		}
	}
	require.Equal(t, len(got), i, "every record is one of the replay's, in their order")
	require.Equal(t, sum, left)
	t.Logf("compaction left %d of %d records", len(got), len(want))
	return x.current(left)
}

// oracle recomputes the matches of the queries that are registered from what was sent, without motifd's graph, and
// compares their ids.
func (x *torture) oracle(standing map[string]string) (messages, updates, refused int) {
	t := x.t
	g := matchertest.NewGraph(true)
	for _, c := range x.input.communities {
		for _, msg := range c.sent {
			messages++
			updates += len(msg)
			if msg == nil || !g.Accept(dyngraph.Message{Updates: msg}) {
				refused++
			}
		}
	}
	var ids []string
	for name, a := range x.queries {
		if name == "alert" { // see onceTold
			continue
		}
		c := config.Query{Name: name, Cypher: a.Pattern, Emit: "deltas", Unit: "embeddings", Backfill: "full"}
		q, err := c.Build(true, "", nil)
		require.NoError(t, err)
		q.Version = a.Version
		var matches []matchertest.Match
		if kind := tortureKinds[a.Pattern]; kind != nil {
			matches = kind(g, q)
		} else {
			var ok bool
			matches, ok = g.Matches(q, 10_000_000)
			require.True(t, ok)
		}
		if len(matches) > 0 {
			x.figures.matched = append(x.figures.matched, a.Pattern)
		}
		for _, m := range matches {
			ids = append(ids, oracleID(q, m))
		}
	}
	slices.Sort(ids)
	require.NotEmpty(t, ids)
	require.Equal(t, ids, slices.Sorted(maps.Keys(standing)))
	return messages, updates, refused
}

// oracleID is the match id as docs/formats.md defines it.
func oracleID(q *matcher.Query, m matchertest.Match) string {
	var b []byte
	field := func(s string) { b = append(bin.BigEndian.AppendUint32(b, uint32(len(s))), s...) }
	field("motifd-match-1")
	field(q.Name)
	field(strconv.FormatUint(q.Version, 10))
	if lengths, ok := lengthsOf(q, m); ok {
		field(lengths)
	}
	for _, v := range m.Vertices {
		field(v.Key)
		field(v.Label)
	}
	for _, e := range m.Edges {
		field(e.From.Key)
		field(e.To.Key)
		field(e.Label)
	}
	sum := sha256.Sum256(b)
	return fmt.Sprintf("%x", sum[:16])
}

// offsets holds that the group's offsets are at the end of the input, so that lag tools show none.
func (x *torture) offsets() {
	t := x.t
	cl, err := brokertest.NewClient(x.b.Addr())
	require.NoError(t, err)
	defer cl.Close()
	rt := kmsg.NewOffsetFetchRequestTopic()
	rt.Topic = x.topic("in")
	for p := range x.input.communities {
		rt.Partitions = append(rt.Partitions, int32(p))
	}
	for {
		req := kmsg.NewPtrOffsetFetchRequest()
		// stable: the transactions that bring one have ended
		req.Group, req.RequireStable, req.Topics = x.topic("group"), true, append(req.Topics, rt)
		res, err := req.RequestWith(t.Context(), cl)
		require.NoError(t, err)
		failed := kerr.ErrorForCode(res.ErrorCode)
		for _, p := range res.Topics[0].Partitions {
			if failed == nil {
				failed = kerr.ErrorForCode(p.ErrorCode)
			}
		}
		if kerr.IsRetriable(failed) {
			continue
		}
		require.NoError(t, failed)
		for _, p := range res.Topics[0].Partitions {
			require.EqualValues(t, len(x.input.communities[p.Partition].sent), p.Offset, "partition %d", p.Partition)
		}
		return
	}
}
