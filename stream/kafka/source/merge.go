package source

import (
	"context"
	"sync"

	"motifd/stream"
)

// The orders in which the partitions of an input are read.
const (
	// MergeTimestamp reads, of the fetched records, the one with the lowest timestamp first. It waits for a partition
	// that is known to have records that are not fetched yet.
	MergeTimestamp = "timestamp"
	// MergeNone reads records in the order of fetching.
	MergeNone = "none"
)

// merger merges the records of the partitions. Each partition has a fetcher and a buffer for one fetched chunk.
type merger struct {
	byTime bool
	bytes  int // approximate limit on the bytes of keys and values that one take merges from several buffers

	mu      sync.Mutex         // guards the fields up to err
	buffers []*partitionBuffer // by partition
	heap    []*partitionBuffer // scratch: the buffers that hold records, the next one to read on top
	arrived uint64             // number of chunks so far
	err     error              // not nil: reading has ended

	ready chan struct{} // holds a token when take may return records
}

// partitionBuffer holds the fetched records of one partition that are not read yet.
type partitionBuffer struct {
	partition int32
	recs      []stream.Record
	arrival   uint64 // number of the chunk, in order of arrival
	// more is true if the partition is known to have records that are not fetched yet.
	more  bool
	taken chan struct{} // holds a token when recs has become empty
}

func newMerger(byTime bool, bytes int) *merger {
	return &merger{byTime: byTime, bytes: bytes, ready: make(chan struct{}, 1)}
}

func token(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// add makes the buffer of a partition; more tells whether the partition has records to fetch.
func (m *merger) add(partition int32, more bool) *partitionBuffer {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := &partitionBuffer{partition: partition, more: more, taken: make(chan struct{}, 1)}
	m.buffers = append(m.buffers, b)
	return b
}

// put stores a chunk in a buffer. It waits until the previous chunk has been taken.
func (m *merger) put(ctx context.Context, b *partitionBuffer, recs []stream.Record) error {
	for {
		m.mu.Lock()
		empty := len(b.recs) == 0
		if empty {
			m.arrived++
			b.recs, b.arrival = recs, m.arrived
		}
		m.mu.Unlock()
		if empty {
			token(m.ready)
			return nil
		}
		select {
		case <-b.taken:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// setMore tells whether a partition has more records than were put into its buffer.
func (m *merger) setMore(b *partitionBuffer, more bool) {
	m.mu.Lock()
	had := b.more
	b.more = more
	m.mu.Unlock()
	if had && !more {
		token(m.ready)
	}
}

// fail makes take return err from now on.
func (m *merger) fail(err error) {
	m.mu.Lock()
	if m.err == nil {
		m.err = err
	}
	m.mu.Unlock()
	token(m.ready)
}

// take returns the next records, none if none can be read yet.
func (m *merger) take() ([]stream.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return nil, m.err
	}
	if m.byTime {
		return m.merged(), nil
	}
	var first *partitionBuffer
	for _, b := range m.buffers {
		if len(b.recs) > 0 && (first == nil || b.arrival < first.arrival) {
			first = b
		}
	}
	if first == nil {
		return nil, nil
	}
	return first.take(len(first.recs)), nil
}

// take removes the first n records of the buffer and returns them.
func (b *partitionBuffer) take(n int) []stream.Record {
	recs := b.recs[:n:n]
	if b.recs = b.recs[n:]; len(b.recs) == 0 {
		b.recs = nil
		token(b.taken)
	}
	return recs
}

const (
	// longRun is the number of consecutive records of one buffer from which they are returned without a copy.
	longRun = 64
	// maxMerged limits the records that one take copies.
	maxMerged = 1024
)

// merged merges the buffers by timestamp. It stops before a partition whose next record is not fetched yet.
func (m *merger) merged() []stream.Record {
	m.heap = m.heap[:0]
	for _, b := range m.buffers {
		switch {
		case len(b.recs) > 0:
			m.heap = append(m.heap, b)
		case b.more:
			return nil
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
	var out []stream.Record
	bytes := 0
	for len(m.heap) > 0 {
		b := m.heap[0]
		if len(m.heap) == 1 && out == nil {
			return b.take(len(b.recs))
		}
		run := m.run()
		if run >= longRun {
			if out == nil {
				return b.take(run)
			}
			return out
		}
		if out == nil {
			out = make([]stream.Record, 0, longRun)
		}
		for _, r := range b.take(run) {
			bytes += len(r.Key) + len(r.Value)
			out = append(out, r)
		}
		if len(out) >= maxMerged || bytes >= m.bytes || len(b.recs) == 0 && b.more {
			return out
		}
		if len(b.recs) == 0 {
			last := len(m.heap) - 1
			m.heap[0] = m.heap[last]
			m.heap = m.heap[:last]
		}
		m.sink(0)
	}
	return out
}

// run returns the number of records of the top buffer that come before the first record of every other buffer: at least
// one.
func (m *merger) run() int {
	b := m.heap[0]
	var next *partitionBuffer
	switch {
	case len(m.heap) == 1:
		return len(b.recs)
	case len(m.heap) == 2 || m.heap[1].before(m.heap[2]):
		next = m.heap[1]
	default:
		next = m.heap[2]
	}
	limit, wins := next.recs[0].Time, b.partition < next.partition
	n := 1
	for n < len(b.recs) {
		if c := b.recs[n].Time.Compare(limit); c > 0 || c == 0 && !wins {
			break
		}
		n++
	}
	return n
}

// before reports whether the first record of b is read before that of c; both buffers hold records.
func (b *partitionBuffer) before(c *partitionBuffer) bool {
	d := b.recs[0].Time.Compare(c.recs[0].Time)
	return d < 0 || d == 0 && b.partition < c.partition
}

// sink moves element i of the heap down to its place.
func (m *merger) sink(i int) {
	for {
		c := 2*i + 1
		if c >= len(m.heap) {
			return
		}
		if c+1 < len(m.heap) && m.heap[c+1].before(m.heap[c]) {
			c++
		}
		if !m.heap[c].before(m.heap[i]) {
			return
		}
		m.heap[i], m.heap[c] = m.heap[c], m.heap[i]
		i = c
	}
}
