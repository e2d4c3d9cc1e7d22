package checkpoint

import (
	"fmt"
	"math"
	"slices"

	"motifd/matcher"
)

// logEntry is a batch in the log, in memory.
type logEntry struct {
	batch     uint64
	bytes     int64  // of keys and values
	digest    string // of an open intent: see intentDigest
	decisions uint32
	at        int64 // of the commit, in milliseconds since 1970
}

// logIndex knows what is in the log: committed batches, then open intents, without a gap.
type logIndex struct {
	committed []logEntry
	bytes     int64 // of the committed ones
	open      []logEntry
}

// next returns the number of the next intent.
func (l *logIndex) next(batch uint64) uint64 { return batch + uint64(len(l.open)) + 1 }

// find returns the place of an open intent, or -1.
func (l *logIndex) find(batch uint64) int {
	for i := range l.open {
		if l.open[i].batch == batch {
			return i
		}
	}
	return -1
}

// plan returns how many of the committed entries are to go once the oldest open intent is committed now, in
// milliseconds, with size more bytes (that one included), and the first and last of them.
func (l *logIndex) plan(size int64, r Retention, now int64) (n int, first, last uint64) {
	count, bytes := uint64(len(l.committed)+1), l.bytes+l.open[0].bytes+size
	at := func(i int) *logEntry {
		if i < len(l.committed) {
			return &l.committed[i]
		}
		return &l.open[0]
	}
	limit := r.Bytes
	if limit <= 0 {
		limit = math.MaxInt64
	}
	old := func(e *logEntry) bool { return r.Time > 0 && e != &l.open[0] && now-e.at >= r.Time.Milliseconds() }
	for ; count > 0 && (count > r.Batches || bytes > limit || old(at(n))); count-- {
		e := at(n)
		if n == 0 {
			first = e.batch
		}
		last = e.batch
		bytes -= e.bytes
		if e == &l.open[0] {
			bytes -= size
		}
		n++
	}
	return n, first, last
}

// commit moves the oldest open intent, grown by size, to the committed ones and forgets the n oldest of them.
func (l *logIndex) commit(size int64, n int, now int64) {
	e := l.open[0]
	e.bytes += size
	e.digest, e.at = "", now
	l.open = l.open[1:]
	l.committed = append(l.committed, e)
	l.bytes += e.bytes
	for i := range n {
		l.bytes -= l.committed[i].bytes
	}
	l.committed = l.committed[n:]
	if len(l.open) == 0 {
		l.open = nil
	}
}

// fillTimes takes a batch whose time is not known for as old as the one after it, and the last for one of now.
func (l *logIndex) fillTimes(now int64) {
	for i := range slices.Backward(l.committed) {
		if e := &l.committed[i]; e.at == 0 {
			e.at = now
		} else {
			now = e.at
		}
	}
}

// control is everything in a checkpoint but the graph and the content of the log.
type control struct {
	streamID string
	settings Settings
	state    state
	queries  []matcher.QueryState
	log      logIndex
	files    []string // of the input, by partition
	suspend  []string // queries that are to be suspended
}

// readControl reads the meta records and the keys of the log.
func readControl(db *database) (*control, error) {
	c := new(control)
	d, err := db.checked(keyStream)
	if err != nil {
		return nil, err
	}
	c.streamID = string(d.b)
	if d, err = db.checked(keySettings); err != nil {
		return nil, err
	}
	settings, err := d.settings()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", db.dir, err)
	}
	c.settings = *settings
	if d, err = db.checked(keyState); err != nil {
		return nil, err
	}
	st, err := d.state()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", db.dir, err)
	}
	c.state = *st
	if d, err = db.checked(keyQueries); err != nil {
		return nil, err
	}
	if c.files, err = readNames(db, keyFiles, "the names of the input's files"); err != nil {
		return nil, err
	}
	if c.suspend, err = readNames(db, keySuspend, "the queries to suspend"); err != nil {
		return nil, err
	}
	if c.queries, err = d.queries(); err == nil {
		err = d.finish("the queries")
	}
	if err == nil {
		c.log, err = readLogIndex(db, c.state.batch)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", db.dir, err)
	}
	return c, nil
}

// readLogIndex reads the keys of the log and the lengths of their values, and checks that it has no gap.
func readLogIndex(db *database, batch uint64) (l logIndex, err error) {
	const (
		hasIntent = 1 << iota
		hasDecision
		hasDone
	)
	var cur logEntry
	var has int
	flush := func() error {
		if has == 0 {
			return nil
		}
		done := has&hasDone != 0
		switch {
		case has&hasIntent == 0:
			return damaged("batch %d in the log has no intent", cur.batch)
		case done != (cur.batch <= batch):
			return damaged("batch %d in the log: committed is %v, but the last committed batch is %d", cur.batch, done,
				batch)
		}
		if n := len(l.committed); n > 0 && len(l.open) == 0 && l.committed[n-1].batch+1 != cur.batch {
			return damaged("the log goes from batch %d to batch %d", l.committed[n-1].batch, cur.batch)
		}
		if done {
			l.committed = append(l.committed, cur)
			l.bytes += cur.bytes
			return nil
		}
		if want := l.next(batch); cur.batch != want {
			return damaged("the log has the intent of batch %d instead of %d", cur.batch, want)
		}
		l.open = append(l.open, cur)
		return nil
	}
	lower, upper := space(spaceLog)
	err = db.lengths(lower, upper, func(key []byte, n int, value func() ([]byte, error)) error {
		number, part, decision, ok := parseLog(key)
		if !ok {
			return damaged("the log has a key %x", key)
		}
		if has == 0 || number != cur.batch {
			if err := flush(); err != nil {
				return err
			}
			cur, has = logEntry{batch: number}, 0
		}
		cur.bytes += int64(len(key) + n)
		switch part {
		case partIntent:
			has |= hasIntent
		case partDone:
			has |= hasDone
		case partTime:
			v, err := value()
			if err != nil {
				return unreadable(db.dir, err)
			}
			d, err := verified(key, v)
			if err != nil {
				return err
			}
			cur.at = d.varint()
			return d.finish("the time of a commit")
		case partDecision:
			if decision != cur.decisions {
				return damaged("decision %d of batch %d is missing", cur.decisions, number)
			}
			cur.decisions++
			has |= hasDecision
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	if n := len(l.committed); err == nil && n > 0 && l.committed[n-1].batch != batch {
		err = damaged("the log ends with batch %d, but %d is the last committed one", l.committed[n-1].batch, batch)
	}
	return l, err
}
