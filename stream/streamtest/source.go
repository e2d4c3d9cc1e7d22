package streamtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/stream"
)

// SourceHarness makes one input and the sources that read it.
type SourceHarness struct {
	// Partitions of the input, numbered from 0; at least 2 makes the better test.
	Partitions int
	// Endless tells that the source waits for more at the end of the input; others return io.EOF.
	Endless bool
	// Keys tells that the input keeps records' keys, Times their timestamps.
	Keys, Times bool
	// Produce appends records to the input: Partition, Key, Value and Time (milliseconds) are meant. It returns once
	// they can be read. Values hold no newline. For inputs that end it is called before Open only.
	Produce func(t testing.TB, recs []stream.Record)
	// Open makes a source that starts at the beginning of the input unless Seek says otherwise. The suite closes it.
	Open func(t testing.TB) stream.Source
	// Lose makes the part of a partition unavailable to which offset, that of an existing record, belongs, such that
	// a Seek there (or the Read after it) must answer stream.ErrDataLoss. nil: the input cannot lose anything.
	Lose func(t testing.TB, partition int32, offset int64)
}

// TestSource checks the contract of stream.Source. newHarness makes a harness over a new, empty input.
func TestSource(t *testing.T, newHarness func(t *testing.T) *SourceHarness) {
	t.Run("ReadsEverything", func(t *testing.T) {
		h := newHarness(t)
		in := h.input(40)
		h.Produce(t, in)
		got := h.readAll(t, nil, len(in))
		h.requireEqual(t, in, got)
		requireOffsets(t, got)
	})
	t.Run("Empty", func(t *testing.T) {
		h := newHarness(t)
		src := h.Open(t)
		defer closeSource(t, src)
		if h.Endless {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			recs, err := src.Read(ctx)
			require.Empty(t, recs)
			require.ErrorIs(t, err, context.Canceled)
			return
		}
		recs, err := src.Read(t.Context())
		require.Empty(t, recs)
		require.ErrorIs(t, err, io.EOF)
	})
	t.Run("SeekContinuesAfterAnyRecord", func(t *testing.T) {
		h := newHarness(t)
		in := h.input(9)
		h.Produce(t, in)
		all := h.readAll(t, nil, len(in))
		for n := range all {
			at := stream.Positions{}
			for _, r := range all[:n] {
				at[r.Partition] = r.Next
			}
			rest := h.readAll(t, at, len(all)-n)
			h.requireEqual(t, all[n:], rest)
			for p := range int32(h.Partitions) {
				requireSameOffsets(t, ofPartition(all[n:], p), ofPartition(rest, p))
			}
		}
	})
	t.Run("SeekOnePartition", func(t *testing.T) {
		h := newHarness(t)
		in := h.input(8)
		h.Produce(t, in)
		all := h.readAll(t, nil, len(in))
		first := ofPartition(all, 0)
		at := stream.Positions{0: first[len(first)-1].Next}
		h.requireEqual(t, without(all, 0), h.readAll(t, at, len(all)-len(first)))
	})
	t.Run("SeekToTheEnd", func(t *testing.T) {
		h := newHarness(t)
		in := h.input(4)
		h.Produce(t, in)
		at := stream.Positions{}
		for _, r := range h.readAll(t, nil, len(in)) {
			at[r.Partition] = r.Next
		}
		if !h.Endless {
			require.Empty(t, h.readAll(t, at, 0))
			return
		}
		src := h.Open(t)
		defer closeSource(t, src)
		require.NoError(t, src.Seek(t.Context(), at))
		more := h.input(2)
		h.Produce(t, more)
		h.requireEqual(t, more, read(t, src, len(more)))
	})
	t.Run("RecordsAreTheCallers", func(t *testing.T) {
		h := newHarness(t)
		in := h.input(30)
		h.Produce(t, in)
		src := h.Open(t)
		defer closeSource(t, src)
		require.NoError(t, src.Seek(t.Context(), nil))
		var got []stream.Record
		for len(got) < len(in) { // every record is held while others are read
			recs, err := src.Read(t.Context())
			got = append(got, recs...)
			if err != nil {
				require.ErrorIs(t, err, io.EOF)
				break
			}
		}
		h.requireEqual(t, in, got)
	})
	t.Run("CloseEndsRead", func(t *testing.T) {
		h := newHarness(t)
		if !h.Endless {
			h.Produce(t, h.input(3))
		}
		src := h.Open(t)
		require.NoError(t, src.Seek(t.Context(), nil))
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				if _, err := src.Read(context.Background()); err != nil {
					return
				}
			}
		}()
		require.NoError(t, src.Close())
		<-done
		_, err := src.Read(t.Context())
		require.Error(t, err, "Read after Close")
	})
	t.Run("CancelEndsRead", func(t *testing.T) {
		h := newHarness(t)
		if !h.Endless {
			t.Log("the input ends: there is nothing to wait for")
			return
		}
		src := h.Open(t)
		defer closeSource(t, src)
		require.NoError(t, src.Seek(t.Context(), nil))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := src.Read(ctx)
			done <- err
		}()
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		in := h.input(3) // and the source goes on
		h.Produce(t, in)
		h.requireEqual(t, in, read(t, src, len(in)))
	})
	t.Run("DataLoss", func(t *testing.T) {
		h := newHarness(t)
		if h.Lose == nil {
			t.Log("the input cannot lose anything")
			return
		}
		h.Produce(t, h.input(20))
		all := ofPartition(h.readAll(t, nil, 20), 1)
		at := all[len(all)/2]
		h.Lose(t, 1, at.Offset)
		src := h.Open(t)
		defer closeSource(t, src)
		err := src.Seek(t.Context(), stream.Positions{1: at.Offset})
		for err == nil {
			_, err = src.Read(t.Context())
		}
		require.ErrorIs(t, err, stream.ErrDataLoss)
	})
}

// input makes n distinct records over the partitions, round robin.
func (h *SourceHarness) input(n int) []stream.Record {
	recs := make([]stream.Record, n)
	for i := range recs {
		r := &recs[i]
		r.Partition = int32(i % h.Partitions)
		r.Value = []byte(fmt.Sprintf(`{"n":%d,"pad":%q}`, i, fmt.Sprintf("%*d", i%37, i)))
		if h.Keys && i%3 != 0 {
			r.Key = []byte(fmt.Sprintf("key-%d", i))
		}
		if h.Times {
			r.Time = time.UnixMilli(1_700_000_000_000 + int64(i))
		}
	}
	return recs
}

// readAll reads n records from the positions on and, when the input ends, that there are no more.
func (h *SourceHarness) readAll(t testing.TB, at stream.Positions, n int) []stream.Record {
	t.Helper()
	src := h.Open(t)
	defer closeSource(t, src)
	require.NoError(t, src.Seek(t.Context(), at))
	got := read(t, src, n)
	if !h.Endless {
		for range 2 {
			recs, err := src.Read(t.Context())
			require.Empty(t, recs)
			require.ErrorIs(t, err, io.EOF)
		}
	}
	return got
}

// read reads n records, which may end with io.EOF.
func read(t testing.TB, src stream.Source, n int) []stream.Record {
	t.Helper()
	var got []stream.Record
	for len(got) < n {
		recs, err := src.Read(t.Context())
		got = append(got, recs...)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		require.NotEmpty(t, recs, "Read returned neither records nor an error")
	}
	require.Equal(t, n, len(got), "records read")
	return got
}

// requireEqual compares contents partition by partition: the order between partitions is free.
func (h *SourceHarness) requireEqual(t testing.TB, want, got []stream.Record) {
	t.Helper()
	require.Equal(t, len(want), len(got), "records read")
	for p := range int32(h.Partitions) {
		w, g := ofPartition(want, p), ofPartition(got, p)
		require.Equal(t, len(w), len(g), "records of partition %d", p)
		for i := range w {
			require.NoError(t, g[i].Err)
			require.Equal(t, string(w[i].Value), string(g[i].Value), "partition %d, record %d", p, i)
			if h.Keys {
				require.Equal(t, string(w[i].Key), string(g[i].Key), "partition %d, record %d", p, i)
			}
			if h.Times {
				require.Equal(t, w[i].Time.UnixMilli(), g[i].Time.UnixMilli(), "partition %d, record %d", p, i)
			}
		}
	}
}

// requireOffsets checks that offsets ascend and that Next leads to the next record or beyond what lies between.
func requireOffsets(t testing.TB, recs []stream.Record) {
	t.Helper()
	next := map[int32]int64{}
	for _, r := range recs {
		require.GreaterOrEqual(t, r.Offset, next[r.Partition])
		require.Greater(t, r.Next, r.Offset)
		next[r.Partition] = r.Next
	}
}

func requireSameOffsets(t testing.TB, want, got []stream.Record) {
	t.Helper()
	for i := range want {
		require.Equal(t, want[i].Offset, got[i].Offset)
		require.Equal(t, want[i].Next, got[i].Next)
	}
}

func ofPartition(recs []stream.Record, p int32) []stream.Record {
	var out []stream.Record
	for _, r := range recs {
		if r.Partition == p {
			out = append(out, r)
		}
	}
	return out
}

func without(recs []stream.Record, p int32) []stream.Record {
	var out []stream.Record
	for _, r := range recs {
		if r.Partition != p {
			out = append(out, r)
		}
	}
	return out
}

func closeSource(t testing.TB, src stream.Source) {
	t.Helper()
	require.NoError(t, src.Close())
}
