package kafka

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"motifd/stream"
)

// TestGaps: offsets that compaction or a transaction has removed are passed over.
func TestGaps(t *testing.T) {
	e := openLog(t, Topic{Name: "in", Config: Compacted()})
	cl := reference(t, e)
	for i := range 20 {
		produce(t, cl, "in", 0, 0, rec("a", fmt.Sprint("a", i)), rec("b", fmt.Sprint("b", i)), rec("a", fmt.Sprint("A", i)))
	}
	e.Cluster.Compact()
	produce(t, cl, "in", 0, 0, rec("", "end"))
	want := values(readAllReference(t, e))
	got := readN(t, newSource(t, SourceOptions{Client: fast(e), Topic: "in", FetchBytes: 1}), len(strings.Fields(want)))
	require.Equal(t, want, values(got))
	require.Less(t, len(got), 61)
}

func readAllReference(t *testing.T, e *Embedded) (out []stream.Record) {
	for _, s := range readTopic(t, reference(t, e), "in", 1) {
		out = append(out, stream.Record{Value: s.Value})
	}
	return out
}

// TestGapAtTheEndOfABatch: a batch whose last records were removed by compaction says itself how far it reaches.
func TestGapAtTheEndOfABatch(t *testing.T) {
	src := newSource(t, SourceOptions{Client: Client{Brokers: []string{"b:9092"}}, Topic: "in"})
	raw := encodeBatch(t, 0, []byte("0"), []byte("1"))
	binary.BigEndian.PutUint32(raw[offLastDelta:], 9)
	setCRC(raw)
	empty := encodeBatch(t, 0, []byte("x"))[:headerSize] // and one that lost all its records
	binary.BigEndian.PutUint64(empty, 10)
	binary.BigEndian.PutUint32(empty[offLength:], headerSize-offLeader)
	binary.BigEndian.PutUint32(empty[offLastDelta:], 4)
	binary.BigEndian.PutUint32(empty[offCount:], 0)
	setCRC(empty)
	for _, from := range []int64{0, 1, 2, 7, 10, 14} {
		f := newFetcher(src, 0, from, true)
		require.NoError(t, f.deliver(t.Context(), &fetched{end: 15, batches: append(bytes.Clone(raw), empty...)}))
		require.EqualValues(t, 15, f.next)
		recs, err := src.merger.take()
		require.NoError(t, err)
		require.Len(t, recs, int(max(2-from, 0)))
	}
}

// TestDamagedBatchIsRefused: a batch whose checksum does not hold is fetched again, twice, and is then one dead letter
// for its records; what is before and behind it is read. A batch whose extent is unknown ends reading.
func TestDamagedBatchIsRefused(t *testing.T) {
	src := newSource(t, SourceOptions{Client: Client{Brokers: []string{"b:9092"}}, Topic: "in"})
	at := func(first uint64, values ...[]byte) []byte {
		raw := encodeBatch(t, 0, values...)
		binary.BigEndian.PutUint64(raw, first)
		return raw
	}
	bad := at(2, []byte("2"), []byte("3"))
	bad[len(bad)-1] ^= 1
	data := slices.Concat(at(0, []byte("0"), []byte("1")), bad, at(4, []byte("4")))
	var got []stream.Record
	done := make(chan struct{})
	go func() {
		defer close(done)
		for len(got) < 4 {
			<-src.merger.some
			recs, err := src.merger.take()
			assert.NoError(t, err)
			got = append(got, recs...)
		}
	}()
	f := newFetcher(src, 0, 0, true)
	for range damagedAttempts - 1 {
		err := f.deliver(t.Context(), &fetched{end: 5, batches: bytes.Clone(data)})
		require.ErrorIs(t, err, errDamaged)
		require.False(t, fatal(err))
		require.EqualValues(t, 2, f.next)
	}
	require.NoError(t, f.deliver(t.Context(), &fetched{end: 5, batches: bytes.Clone(data)}))
	<-done
	require.Equal(t, "0 1  4", values(got))
	var refused *stream.RecordError
	require.ErrorAs(t, got[2].Err, &refused)
	require.Equal(t, "damaged", refused.Reason)
	require.Contains(t, refused.Msg, "offsets 2 to 3")
	require.Equal(t, []int64{2, 4}, []int64{got[2].Offset, got[2].Next})

	binary.BigEndian.PutUint32(bad[offLength:], 3)
	for attempt := range damagedAttempts {
		err := f.deliver(t.Context(), &fetched{end: 5, batches: bytes.Clone(bad)})
		require.ErrorIs(t, err, errDamaged)
		require.Equal(t, attempt == damagedAttempts-1, fatal(err))
	}
}
