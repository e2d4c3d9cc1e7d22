package checkpoint

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher/matchertest"
	"motifd/stream"
)

// encodings are the values that fuzzing starts from, by the codec that reads them.
func encodings(rng *rand.Rand) (intents, dones, states, attrs [][]byte) {
	for range 8 {
		h := newHistory(rng, 4, false)
		for i := range h.batches {
			in := &intent{h.batches[i], "shape"}
			v, err := appendIntent([]byte{versionOfIntent(&in.batch)}, in)
			if err != nil {
				panic(err)
			}
			intents = append(intents, v)
			c := h.infos[i]
			o := &done{effect: c.Effect, report: c.Report, positions: c.Positions,
				digests: randomDigests(rng), declared: declaredOf(c),
				queriesChanged: c.Queries != nil, queries: c.Queries, once: c.Once}
			if v, err = appendDone([]byte{o.version()}, o); err != nil {
				panic(err)
			}
			dones = append(dones, v)
		}
		st := randomState(rng)
		states = append(states, appendState([]byte{versionOf(st.time != nil)}, st))
		a := randomAttr(rng)
		a.Values = randomValues(rng, testSchema.Edges.Columns(), "T")
		attrs = append(attrs, appendAttr(nil, &a))
	}
	return intents, dones, states, attrs
}

// body returns a decoder of a value that begins with its version.
func body(v []byte) *decoder { return &decoder{b: v[1:], version: v[0]} }

func randomDigests(rng *rand.Rand) digests {
	d := func() digest { return digest{count: rng.Uint64(), sum: rng.Uint64()} }
	return digests{d(), d(), d()}
}

func randomState(rng *rand.Rand) *state {
	s := &state{batch: rng.Uint64(), bootstrapped: rng.IntN(2) == 0, digests: randomDigests(rng),
		positions: stream.Positions{0: 0, -1: math.MinInt64, math.MaxInt32: math.MaxInt64}}
	switch rng.IntN(3) {
	case 0:
		s.mark = stream.Mark{}
	case 1:
		s.mark = stream.Mark("mark")
	}
	if rng.IntN(2) == 0 {
		s.time = randomTime(rng)
	}
	for range rng.IntN(4) {
		s.older = append(s.older, dyngraph.VertexID(rng.Uint32()))
		s.newer = append(s.newer, dyngraph.VertexID(rng.Uint32()))
	}
	return s
}

func TestIntentRoundTrip(t *testing.T) {
	rng := newRand(51)
	for range 50 {
		h := newHistory(rng, 4, false)
		for _, b := range h.batches {
			v, err := appendIntent([]byte{versionOfIntent(&b)}, &intent{b, "shape"})
			require.NoError(t, err)
			in, err := body(v).intent()
			require.NoError(t, err)
			require.Equal(t, "shape", in.shape)
			if len(b.Updates) == 0 {
				b.Updates = nil
			}
			for i := range b.Updates {
				if a := &b.Updates[i].Attr; !a.HasTS {
					require.Zero(t, a.TS)
				}
			}
			require.Equal(t, b, in.batch)
		}
	}
}

func TestExtremeUpdates(t *testing.T) {
	b := stream.Batch{Positions: stream.Positions{}}
	b.Number = math.MaxUint64
	for _, p := range []dyngraph.Position{{Partition: math.MaxInt32, Offset: math.MaxInt64, Element: math.MaxInt32},
		{Partition: math.MinInt32, Offset: math.MinInt64, Element: math.MinInt32}, {}} {
		b.Updates = append(b.Updates, dyngraph.Update{Op: dyngraph.InsertEdge, From: "\x00", To: "ü", Label: "L",
			FromLabel: "L",
			ToLabel:   "M", Attr: dyngraph.Attr{HasTS: true, TS: math.MinInt64}, Pos: p})
	}
	v, err := appendIntent([]byte{codecVersion}, &intent{batch: b})
	require.NoError(t, err)
	in, err := body(v).intent()
	require.NoError(t, err)
	require.Equal(t, b, in.batch)
}

func TestDoneRoundTrip(t *testing.T) {
	rng := newRand(52)
	revised, remembers := 0, 0
	for range 50 {
		h := newHistory(rng, 4, false)
		for _, c := range h.infos {
			revised += len(c.Effect.Revised)
			remembers += len(c.Once)
			o := &done{effect: c.Effect, report: c.Report, positions: c.Positions,
				digests: randomDigests(rng), declared: declaredOf(c),
				queriesChanged: c.Queries != nil, queries: c.Queries, once: c.Once}
			v, err := appendDone([]byte{o.version()}, o)
			require.NoError(t, err)
			got, err := body(v).done()
			require.NoError(t, err)
			if len(o.effect.NewLabels) == 0 {
				o.effect.NewLabels = nil
			}
			if len(o.effect.Released) == 0 {
				o.effect.Released = nil
			}
			require.Equal(t, o, got)
		}
	}
	require.Positive(t, revised)
	require.Positive(t, remembers)
}

func TestStateRoundTrip(t *testing.T) {
	rng := newRand(53)
	for range 100 {
		s := randomState(rng)
		got, err := body(appendState([]byte{versionOf(s.time != nil)}, s)).state()
		require.NoError(t, err)
		require.Equal(t, s, got)
	}
}

// TestTruncated: every prefix of a value is refused; no read goes beyond it.
func TestTruncated(t *testing.T) {
	matchertest.NotUnderRace(t, "TestCrashAtEveryWrite has the same goroutines")
	intents, dones, states, _ := encodings(newRand(54))
	for _, v := range intents {
		for i := 1; i < len(v); i++ {
			_, err := body(v[:i:i]).intent()
			require.ErrorIs(t, err, ErrDamaged)
		}
	}
	for _, v := range dones {
		for i := 1; i < len(v); i++ {
			_, err := body(v[:i:i]).done()
			require.ErrorIs(t, err, ErrDamaged)
		}
	}
	for _, v := range states {
		for i := 1; i < len(v); i++ {
			_, err := body(v[:i:i]).state()
			require.ErrorIs(t, err, ErrDamaged)
		}
	}
}

func TestSeal(t *testing.T) {
	v := withChecksum(keyState, []byte{codecVersion, 1, 2, 3})
	d, err := verified(keyState, v)
	require.NoError(t, err)
	require.Equal(t, []byte{1, 2, 3}, d.b)
	_, err = verified(keyQueries, v) // a value under a key that it was not written for
	require.ErrorIs(t, err, ErrDamaged)
	for i := range v {
		bad := bytes.Clone(v)
		bad[i] ^= 4
		_, err = verified(keyState, bad)
		require.ErrorIs(t, err, ErrDamaged)
	}
	_, err = verified(keyState, withChecksum(keyState, []byte{changedVersion + 1}))
	require.ErrorContains(t, err, "version 7")
}

func TestDigest(t *testing.T) {
	var d, e digests
	keys := [][]byte{labelKey(nil, 1), vertexKey(nil, 2), edgeKey(nil, 3, 4, 5, ""), edgeKey(nil, 5, 4, 3, "b")}
	for i, k := range keys {
		d.replace(k, nil, fmt.Append(nil, i))
		e.replace(keys[len(keys)-1-i], nil, fmt.Append(nil, len(keys)-1-i))
	}
	require.Equal(t, d, e)
	require.NoError(t, d.differ(e))
	e.replace(keys[2], []byte("2"), []byte("3"))
	require.ErrorContains(t, d.differ(e), "digest of the 2 edges")
	e.replace(keys[2], []byte("3"), []byte("2"))
	require.Equal(t, d, e)
	e.replace(keys[1], []byte("1"), nil)
	require.ErrorContains(t, d.differ(e), "1 vertices instead of 0")
	// An edge without attributes counts.
	e = d
	e.replace(keys[2], []byte("2"), []byte{})
	require.Error(t, d.differ(e))
	require.Equal(t, uint64(2), e.edges.count)
	require.NotEqual(t, hashRecord([]byte("a"), []byte("bc")), hashRecord([]byte("ab"), []byte("c")))
}

// The fuzz targets: bytes that were not written by the codec are refused or mean something that can be written again
// and read as the same; nothing panics.

func FuzzIntent(f *testing.F) {
	intents, _, _, _ := encodings(newRand(55))
	for _, v := range intents {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v []byte) {
		if len(v) == 0 || v[0] != codecVersion && v[0] != timeVersion {
			return
		}
		in, err := body(v).intent()
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			return
		}
		w, err := appendIntent([]byte{versionOfIntent(&in.batch)}, in)
		require.NoError(t, err)
		again, err := body(w).intent()
		require.NoError(t, err)
		require.Equal(t, in, again)
	})
}

func FuzzDone(f *testing.F) {
	_, dones, _, _ := encodings(newRand(56))
	for _, v := range dones {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v []byte) {
		if len(v) == 0 || v[0] != codecVersion && v[0] != timeVersion && v[0] < onceVersion || v[0] > changedVersion {
			return
		}
		o, err := body(v).done()
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			return
		}
		w, err := appendDone([]byte{o.version()}, o)
		require.NoError(t, err)
		again, err := body(w).done()
		require.NoError(t, err)
		require.Equal(t, o, again)
		// An effect that no graph made can still be walked.
		require.NoError(t, changes(&o.effect, false, func(_, _, _ []byte) error { return nil }))
		require.NoError(t, changes(&o.effect, true, func(_, _, _ []byte) error { return nil }))
	})
}

func FuzzState(f *testing.F) {
	_, _, states, _ := encodings(newRand(57))
	for _, v := range states {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v []byte) {
		if len(v) == 0 || v[0] != codecVersion && v[0] != timeVersion {
			return
		}
		s, err := body(v).state()
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			return
		}
		again, err := body(appendState([]byte{versionOf(s.time != nil)}, s)).state()
		require.NoError(t, err)
		require.Equal(t, s, again)
	})
}

func FuzzFiles(f *testing.F) {
	f.Add(appendNames(nil, nil))
	f.Add(appendNames(nil, []string{"a.jsonl", "", "b \xff.csv.gz"}))
	f.Fuzz(func(t *testing.T, v []byte) {
		names, err := (&decoder{b: v}).names("the names of the input's files")
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			return
		}
		again, err := (&decoder{b: appendNames(nil, names)}).names("the names of the input's files")
		require.NoError(t, err)
		require.Equal(t, names, again)
	})
}

// FuzzContent reads keys and values of the graph.
func FuzzContent(f *testing.F) {
	_, _, _, attrs := encodings(newRand(58))
	for _, v := range attrs {
		f.Add(edgeKey(nil, 1, 2, 3, ""), v)
		f.Add(edgeKey(nil, 1, 2, 3, "tx"), v)
	}
	f.Add(vertexKey(nil, 7), appendVertex(nil, &dyngraph.VertexRecord{Key: "k", Label: 300}))
	f.Add(vertexKey(nil, 7), appendVertex(nil, &dyngraph.VertexRecord{Key: "k", Label: 300,
		Values: randomValues(newRand(59), testSchema.Vertices.Columns(), "A")}))
	f.Add(decisionKey(3, 4), []byte{})
	f.Fuzz(func(t *testing.T, key, value []byte) {
		for _, edgeIDs := range []bool{false, true} {
			r, err := decodeEdge(key, value, edgeIDs)
			if err != nil {
				continue
			}
			id := ""
			if edgeIDs {
				id = r.Attr.ID
			}
			require.Equal(t, key[1:], edgeKey(nil, r.From, r.Label, r.To, id)[1:])
			again, err := decodeEdge(key, appendEdge(nil, &r.Attr, edgeIDs), edgeIDs)
			require.NoError(t, err)
			require.Equal(t, r, again)
		}
		if v, ok := decodeVertex(7, value); ok {
			again, ok := decodeVertex(7, appendVertex(nil, &v))
			require.True(t, ok)
			require.Equal(t, v, again)
		}
		if batch, part, n, ok := parseLog(key); ok && part == partDecision {
			require.Equal(t, key[1:], decisionKey(batch, n)[1:])
		}
		if _, err := verified(key, value); err != nil {
			require.ErrorIs(t, err, ErrDamaged)
		}
		_ = keyName(key)
	})
}
