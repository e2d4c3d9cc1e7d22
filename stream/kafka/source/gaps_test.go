package source

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/embedded"
	"motifd/stream/kafka/internal/kafkatest"
	"motifd/stream/kafka/internal/recordbatch"
)

// Offsets of fields in the header of a record batch, and its size.
const (
	offLength    = 8
	offLeader    = 12
	offCRC       = 17
	offAttribute = 21
	offLastDelta = 23
	offCount     = 57
	headerSize   = 61
)

// encodeBatch returns a record batch as it lies in a log, without the size prefix.
func encodeBatch(t testing.TB, values ...[]byte) []byte {
	t.Helper()
	var b recordbatch.Builder
	b.Reset()
	for _, v := range values {
		b.Add([]byte("key"), v, nil)
	}
	raw, err := b.Finish(time.UnixMilli(1_700_000_000_000))
	require.NoError(t, err)
	return bytes.Clone(raw[4:])
}

func setCRC(raw []byte) {
	binary.BigEndian.PutUint32(raw[offCRC:], crc32.Checksum(raw[offAttribute:], crc32.MakeTable(crc32.Castagnoli)))
}

// TestGaps: offsets that compaction or a transaction has removed are passed over.
func TestGaps(t *testing.T) {
	e := kafkatest.OpenLog(t, admin.Topic{Name: "in", Config: admin.Compacted()})
	cl := kafkatest.Reference(t, e)
	for i := range 20 {
		kafkatest.Produce(
			t,
			cl,
			"in",
			0,
			0,
			kafkatest.Rec("a", fmt.Sprint("a", i)),
			kafkatest.Rec("b", fmt.Sprint("b", i)),
			kafkatest.Rec("a", fmt.Sprint("A", i)),
		)
	}
	e.Cluster.Compact()
	kafkatest.Produce(t, cl, "in", 0, 0, kafkatest.Rec("", "end"))
	want := kafkatest.Values(readAllReference(t, e))
	got := kafkatest.ReadN(
		t,
		newSource(t, Options{ClientOptions: kafkatest.Fast(e), Topic: "in", FetchBytes: 1}),
		len(strings.Fields(want)),
	)
	require.Equal(t, want, kafkatest.Values(got))
	require.Less(t, len(got), 61)
}

func readAllReference(t *testing.T, e *embedded.Log) (out []stream.Record) {
	for _, s := range kafkatest.ReadTopic(t, kafkatest.Reference(t, e), "in", 1) {
		out = append(out, stream.Record{Value: s.Value})
	}
	return out
}

// TestGapAtTheEndOfABatch: a batch whose last records were removed by compaction says itself how far it reaches.
func TestGapAtTheEndOfABatch(t *testing.T) {
	src := newSource(t, Options{ClientOptions: kafka.ClientOptions{Brokers: []string{"b:9092"}}, Topic: "in"})
	raw := encodeBatch(t, []byte("0"), []byte("1"))
	binary.BigEndian.PutUint32(raw[offLastDelta:], 9)
	setCRC(raw)
	empty := encodeBatch(t, []byte("x"))[:headerSize] // and one that lost all its records
	binary.BigEndian.PutUint64(empty, 10)
	binary.BigEndian.PutUint32(empty[offLength:], headerSize-offLeader)
	binary.BigEndian.PutUint32(empty[offLastDelta:], 4)
	binary.BigEndian.PutUint32(empty[offCount:], 0)
	setCRC(empty)
	for _, from := range []int64{0, 1, 2, 7, 10, 14} {
		f := newFetcher(src, 0, from, true)
		require.NoError(t, f.deliver(t.Context(), &kafka.Fetched{End: 15, Batches: append(bytes.Clone(raw), empty...)}))
		require.EqualValues(t, 15, f.next)
		recs, err := src.merger.take()
		require.NoError(t, err)
		require.Len(t, recs, int(max(2-from, 0)))
	}
}

// TestDamagedBatchIsRefused: a batch whose checksum does not hold is fetched again, twice, and is then one dead letter
// for its records; what is before and behind it is read. A batch whose extent is unknown ends reading.
func TestDamagedBatchIsRefused(t *testing.T) {
	src := newSource(t, Options{ClientOptions: kafka.ClientOptions{Brokers: []string{"b:9092"}}, Topic: "in"})
	at := func(first uint64, values ...[]byte) []byte {
		raw := encodeBatch(t, values...)
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
			<-src.merger.ready
			recs, err := src.merger.take()
			assert.NoError(t, err)
			got = append(got, recs...)
		}
	}()
	f := newFetcher(src, 0, 0, true)
	for range damagedAttempts - 1 {
		err := f.deliver(t.Context(), &kafka.Fetched{End: 5, Batches: bytes.Clone(data)})
		require.ErrorIs(t, err, recordbatch.ErrDamaged)
		require.False(t, kafka.Fatal(err))
		require.EqualValues(t, 2, f.next)
	}
	require.NoError(t, f.deliver(t.Context(), &kafka.Fetched{End: 5, Batches: bytes.Clone(data)}))
	<-done
	require.Equal(t, "0 1  4", kafkatest.Values(got))
	var refused *stream.RecordError
	require.ErrorAs(t, got[2].Err, &refused)
	require.Equal(t, "damaged", refused.Reason)
	require.Contains(t, refused.Msg, "offsets 2 to 3")
	require.Equal(t, []int64{2, 4}, []int64{got[2].Offset, got[2].Next})

	binary.BigEndian.PutUint32(bad[offLength:], 3)
	for attempt := range damagedAttempts {
		err := f.deliver(t.Context(), &kafka.Fetched{End: 5, Batches: bytes.Clone(bad)})
		require.ErrorIs(t, err, recordbatch.ErrDamaged)
		require.Equal(t, attempt == damagedAttempts-1, kafka.Fatal(err))
	}
}
