package streamtest

import (
	"testing"

	"motifd/stream"
)

func TestMemorySource(t *testing.T) {
	for name, endless := range map[string]bool{"Finite": false, "Endless": true} {
		t.Run(name, func(t *testing.T) {
			TestSource(t, func(t *testing.T) *SourceHarness {
				in := NewInput(endless)
				return &SourceHarness{
					Partitions: 3, Endless: endless, Keys: true, Times: true,
					Produce: func(_ testing.TB, recs []stream.Record) { in.Add(recs...) },
					Open:    func(testing.TB) stream.Source { return in.Source(2) },
					Lose:    func(_ testing.TB, p int32, o int64) { in.Lose(p, o) },
				}
			})
		})
	}
}

func TestMemorySink(t *testing.T) {
	for name, mode := range map[string]OutputMode{"Truncated": Truncated, "Tracked": Tracked, "Blind": Blind} {
		t.Run(name, func(t *testing.T) {
			TestSink(t, func(*testing.T) *SinkHarness {
				o := &MemOutput{Mode: mode}
				return &SinkHarness{
					New:         func(_ testing.TB, allow bool) stream.Sink { return o.Sink(allow) },
					Visible:     func(testing.TB) Output { return o.Visible() },
					ExactlyOnce: mode != Blind,
					Ordered:     true, Headers: true, Keys: true, Tombstones: true,
					Exclusive: stream.ErrLocked,
				}
			})
		})
	}
}
