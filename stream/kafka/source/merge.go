package source

import (
	"context"
	"sync"

	"motifd/stream"
)

// In which order the partitions of an input are read.
const (
	// MergeTimestamp reads the record with the lowest timestamp first, of those that have been fetched. A partition
	// that is known to have more records than were fetched is waited for.
	MergeTimestamp = "timestamp"
	// MergeNone reads what was fetched first.
	MergeNone = "none"
)

// merger brings together what the fetchers of the partitions have fetched. Each has a lane, which holds one chunk.
type merger struct {
	byTime bool
	bytes  int // of keys and values that take copies from several lanes, about

	mu      sync.Mutex // guards what follows
	lanes   []*lane    // by partition
	heap    []*lane    // scratch: those with records, the one that is next on top
	arrived uint64     // chunks
	err     error      // reading has ended

	some chan struct{} // holds a token when there may be something to take
}

// lane is what waits to be read of one partition.
type lane struct {
	partition int32
	recs      []stream.Record
	number    uint64 // of the chunk, in order of arrival
	// behind tells that the partition has records behind recs, as far as is known.
	behind bool
	room   chan struct{} // holds a token when recs was taken
}

func newMerger(byTime bool, bytes int) *merger {
	return &merger{byTime: byTime, bytes: bytes, some: make(chan struct{}, 1)}
}

func token(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// add makes a lane for a partition; behind tells that it has records to read.
func (m *merger) add(partition int32, behind bool) *lane {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := &lane{partition: partition, behind: behind, room: make(chan struct{}, 1)}
	m.lanes = append(m.lanes, l)
	return l
}

// put hands over a chunk of a lane, when the one before has been taken.
func (m *merger) put(ctx context.Context, l *lane, recs []stream.Record) error {
	for {
		m.mu.Lock()
		empty := len(l.recs) == 0
		if empty {
			m.arrived++
			l.recs, l.number = recs, m.arrived
		}
		m.mu.Unlock()
		if empty {
			token(m.some)
			return nil
		}
		select {
		case <-l.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// setBehind tells whether a lane has more records than were put.
func (m *merger) setBehind(l *lane, behind bool) {
	m.mu.Lock()
	was := l.behind
	l.behind = behind
	m.mu.Unlock()
	if was && !behind {
		token(m.some)
	}
}

// fail ends reading.
func (m *merger) fail(err error) {
	m.mu.Lock()
	if m.err == nil {
		m.err = err
	}
	m.mu.Unlock()
	token(m.some)
}

// take returns the next records; none when there are none yet.
func (m *merger) take() ([]stream.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return nil, m.err
	}
	if m.byTime {
		return m.merged(), nil
	}
	var first *lane
	for _, l := range m.lanes {
		if len(l.recs) > 0 && (first == nil || l.number < first.number) {
			first = l
		}
	}
	if first == nil {
		return nil, nil
	}
	return first.take(len(first.recs)), nil
}

// take takes the first n records of a lane.
func (l *lane) take(n int) []stream.Record {
	recs := l.recs[:n:n]
	if l.recs = l.recs[n:]; len(l.recs) == 0 {
		l.recs = nil
		token(l.room)
	}
	return recs
}

const (
	// longRun is how many records of one lane are handed on as they lie, not copied behind those of another.
	longRun = 64
	// maxMerged bounds the records that are copied.
	maxMerged = 1024
)

// merged returns the records with the lowest timestamps, of those at the heads of the lanes: as many as can be told.
func (m *merger) merged() []stream.Record {
	m.heap = m.heap[:0]
	for _, l := range m.lanes {
		switch {
		case len(l.recs) > 0:
			m.heap = append(m.heap, l)
		case l.behind:
			return nil
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
	var out []stream.Record
	bytes := 0
	for len(m.heap) > 0 {
		l := m.heap[0]
		if len(m.heap) == 1 && out == nil {
			return l.take(len(l.recs))
		}
		run := m.run()
		if run >= longRun {
			if out == nil {
				return l.take(run)
			}
			return out
		}
		if out == nil {
			out = make([]stream.Record, 0, longRun)
		}
		for _, r := range l.take(run) {
			bytes += len(r.Key) + len(r.Value)
			out = append(out, r)
		}
		if len(out) >= maxMerged || bytes >= m.bytes || len(l.recs) == 0 && l.behind {
			return out
		}
		if len(l.recs) == 0 {
			last := len(m.heap) - 1
			m.heap[0] = m.heap[last]
			m.heap = m.heap[:last]
		}
		m.sink(0)
	}
	return out
}

// run returns how many records of the lane on top come before the first one of every other lane: one at least.
func (m *merger) run() int {
	l := m.heap[0]
	var next *lane
	switch {
	case len(m.heap) == 1:
		return len(l.recs)
	case len(m.heap) == 2 || m.heap[1].before(m.heap[2]):
		next = m.heap[1]
	default:
		next = m.heap[2]
	}
	limit, wins := next.recs[0].Time, l.partition < next.partition
	n := 1
	for n < len(l.recs) {
		if c := l.recs[n].Time.Compare(limit); c > 0 || c == 0 && !wins {
			break
		}
		n++
	}
	return n
}

// before tells whether a lane's first record is to be read before another's; both have some.
func (l *lane) before(k *lane) bool {
	c := l.recs[0].Time.Compare(k.recs[0].Time)
	return c < 0 || c == 0 && l.partition < k.partition
}

// sink moves an element of the heap down to where it belongs.
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
