package kafka

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/stream"
)

// everyCode lists the errors that a broker can answer with.
func everyCode() (out []*kerr.Error) {
	for code := int16(-1); code <= 132; code++ {
		if code == 0 {
			continue
		}
		if err := kerr.TypedErrorForCode(code); err != nil && err.Code == code {
			out = append(out, err)
		}
	}
	return out
}

// TestSourceErrorCodes: each code that a broker can answer with, once to each call that a source makes. Whether the
// source goes on or gives up, every record is read once and in order.
func TestSourceErrorCodes(t *testing.T) {
	log := openLog(t, Topic{Name: "in"})
	ref := reference(t, log)
	var src *Source
	sent, next := 0, int64(0)
	read := func() error { // one record more, with a new source if need be
		if src == nil {
			src = newSource(t, SourceOptions{Client: fast(log), Topic: "in"})
			if err := src.Seek(t.Context(), stream.Positions{0: next}); err != nil {
				require.NoError(t, src.Close())
				src = nil
				return err
			}
		}
		for next < int64(sent) {
			recs, err := src.Read(t.Context())
			if err != nil {
				require.NoError(t, src.Close())
				src = nil
				return err
			}
			for _, r := range recs {
				require.Equal(t, next, r.Offset)
				require.Equal(t, fmt.Sprint(next), string(r.Value))
				next = r.Next
			}
		}
		return nil
	}
	n, gaveUp := 0, 0
	for _, code := range everyCode() {
		for _, key := range []kmsg.Key{kmsg.Fetch, kmsg.ListOffsets} {
			if key == kmsg.ListOffsets && src != nil { // asked when a source is opened
				require.NoError(t, src.Close())
				src = nil
			}
			h := log.Cluster.Fault(faultOn(key, code, 1))
			for h.Hits() == 0 { // a fetch that waits at the broker already is not failed
				produce(t, ref, "in", 0, 0, rec("", fmt.Sprint(sent)))
				sent++
				for attempt := 0; ; attempt++ {
					err := read()
					if err == nil {
						break
					}
					require.Zero(t, attempt, "%v, %v: %v", key, code, err)
					require.True(t, fatal(err), "%v, %v: %v", key, code, err)
					gaveUp++
				}
			}
			h.Remove()
			n++
		}
	}
	t.Logf("%d faults, %d times the source gave up", n, gaveUp)
	require.Equal(t, int64(sent), next)
}

// TestPlainSinkErrorCodes: each code, once to the produce calls of a sink without transactions. Every record is there,
// and a record that is there twice was told of.
func TestPlainSinkErrorCodes(t *testing.T) {
	log := openLog(t, Topic{Name: "out"})
	ref := reference(t, log)
	opt := SinkOptions{Client: fast(log), Topic: "out"}
	told := 0
	opt.Events.Duplicates = func(string, int32, int64) { told++ }
	var s *Sink
	var m stream.Mark
	committed, hits, gaveUp := uint64(0), 0, 0
	codes := everyCode()
	for _, code := range codes {
		h := log.Cluster.Fault(faultOn(kmsg.Produce, code, 1))
		batch := committed + 1
		for attempt := 0; committed < batch; attempt++ {
			if s == nil {
				s, _ = openSink(t, opt, committed, m, batch == 1 && attempt == 0)
			}
			var err error
			m2, err := publishBatch(t.Context(), s, batch, deltas(batch, 0, 1), stream.Tail{})
			if err != nil {
				require.Zero(t, attempt, "%v: %v", code, err)
				gaveUp++
				crash(t, s)
				s = nil
				continue
			}
			committed, m = batch, m2
		}
		if h.Hits() > 0 {
			hits++
		}
		h.Remove()
	}
	require.NoError(t, s.Close())
	require.Equal(t, len(codes), hits)
	seen := map[uint64]int{}
	for _, r := range readTopic(t, ref, "out", 1) {
		seen[r.Batch]++
	}
	doubled := 0
	for b := uint64(1); b <= committed; b++ {
		require.NotZero(t, seen[b], "batch %d", b)
		doubled += seen[b] - 1
	}
	t.Logf("%d faults, %d times the sink gave up, %d records doubled, %d told", len(codes), gaveUp, doubled, told)
	require.LessOrEqual(t, doubled, told)
}
