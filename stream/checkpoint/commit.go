package checkpoint

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"motifd/matcher"
	"motifd/stream"
)

// maxWrite bounds one atomic write; Pebble takes 4 GiB.
const maxWrite = 3 << 30

// ErrTooLarge: a batch changes more than one atomic write can hold (3 GiB).
var ErrTooLarge = errors.New("too large for one write of the checkpoint: cut smaller batches")

// Commit makes the batch's effect durable and ends its intent. Batches are committed in order.
func (s *Store) Commit(ctx context.Context, c *stream.CommitInfo) error {
	s.commits.Lock()
	defer s.commits.Unlock()
	if s.opt.ReadOnly {
		return errReadOnly
	}
	// Only Commit changes the state and the queries, so that they can be read below without the lock.
	s.mu.Lock()
	next, suspend := s.state, s.suspend
	oldest := s.log.find(c.Batch) == 0
	var digest string
	if oldest {
		digest = s.log.open[0].digest
	}
	s.mu.Unlock()
	if !oldest {
		return fmt.Errorf("checkpoint: commit of batch %d, but batch %d is the last committed one, and %d has no "+
			"open intent "+
			"or is not the oldest", c.Batch, next.batch, c.Batch)
	}
	fail := func(err error) error { return fmt.Errorf("checkpoint: commit of batch %d: %w", c.Batch, err) }
	b := s.db.NewBatch()
	defer b.Close()
	size, err := s.writeEffect(b, &next, c)
	if err != nil {
		return fail(err)
	}
	remembers, err := writeOnce(b, c.Once)
	if err != nil {
		return fail(err)
	}
	size += remembers
	now := s.now()
	grown, err := s.writeDone(b, c, maxWrite-size, now)
	if err != nil {
		return fail(err)
	}
	if c.Queries != nil {
		if suspend, err = writeQueries(b, c.Queries, suspend); err != nil {
			return fail(err)
		}
	}
	settings, err := s.writeDeclared(b, c)
	if err != nil {
		return fail(err)
	}
	next.time = c.Time
	err = errors.Join(
		setChecksummed(b, keyState, appendState([]byte{versionOf(next.time != nil)}, &next)),
		setChecksummed(b, keyIntents, appendIntents([]byte{codecVersion}, c.Batch, digest)),
	)
	if err != nil {
		return fail(err)
	}
	s.mu.Lock()
	dropped, first, last := s.log.plan(grown, s.opt.Retention, now)
	s.mu.Unlock()
	if dropped > 0 {
		if err := b.DeleteRange(logKey(first, 0), logKey(last+1, 0), nil); err != nil {
			return fail(err)
		}
	}
	if err := s.apply(ctx, b); err != nil {
		return fail(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.digest, s.suspend, s.settings = next, digest, suspend, settings
	if c.Queries != nil {
		s.queries = slices.Clone(c.Queries)
	}
	s.log.commit(grown, dropped, now)
	return nil
}

// writeDone puts the end of the batch's log entry into the write: what it did, in at most room bytes, and when it was
// committed. It returns the size of both, and owns doneBuf.
func (s *Store) writeDone(b *pebble.Batch, c *stream.CommitInfo, room, now int64) (size int64, err error) {
	entry := &done{effect: c.Effect, report: c.Report, positions: s.state.positions, digests: s.state.digests,
		queriesChanged: c.Queries != nil, queries: s.queries, once: c.Once}
	if c.Declaration != nil {
		entry.declared = &declaredBefore{s.settings.Properties, s.settings.Declaration, c.Report.Properties}
	}
	key, timeKey := logKey(c.Batch, partDone), logKey(c.Batch, partTime)
	value, err := appendDone(append(s.doneBuf[:0], entry.version()), entry)
	if err != nil {
		return 0, err
	}
	value = withChecksum(key, value)
	s.doneBuf = keepBuffer(value)
	if int64(len(value)) > room {
		return 0, fmt.Errorf("%w: %d bytes", ErrTooLarge, maxWrite-room+int64(len(value)))
	}
	timeValue := withChecksum(timeKey, binary.AppendVarint([]byte{codecVersion}, now))
	err = errors.Join(b.Set(key, value, nil), b.Set(timeKey, timeValue, nil))
	return int64(len(key) + len(value) + len(timeKey) + len(timeValue)), err
}

// writeDeclared puts the settings into the write, if the batch is a step of a change of the declared properties. It
// returns those after the batch.
func (s *Store) writeDeclared(b *pebble.Batch, c *stream.CommitInfo) (Settings, error) {
	if c.Declaration == nil {
		return s.settings, nil
	}
	next := s.settings.declare(c.Declaration)
	v, err := appendSettings([]byte{codecVersion}, &next)
	if err != nil {
		return next, err
	}
	return next, setChecksummed(b, keySettings, v)
}

// writeQueries puts the queries into the write. It returns those that are still to be suspended.
func writeQueries(b *pebble.Batch, queries []matcher.QueryState, suspend []string) (left []string, err error) {
	v, err := appendQueries([]byte{codecVersion}, queries)
	if err != nil {
		return nil, err
	}
	if err := setChecksummed(b, keyQueries, v); err != nil {
		return nil, err
	}
	left = leftToSuspend(suspend, queries)
	if len(left) < len(suspend) {
		err = setSuspend(b, left)
	}
	return left, err
}

// writeEffect puts the changed records into the batch and brings the state up to it. It returns the size of what it
// wrote, and stops when that is too much.
func (s *Store) writeEffect(b *pebble.Batch, st *state, c *stream.CommitInfo) (size int64, err error) {
	if got, want := c.Effect.LabelsBefore, st.digests.labels.count+1; uint64(got) != want {
		return 0, fmt.Errorf("the batch began with %d labels, but %d are stored", got, want)
	}
	older, newer, err := st.after(&c.Effect)
	if err != nil {
		return 0, err
	}
	s.writes.reset()
	err = changes(&c.Effect, s.settings.EdgeIDs, func(key, before, after []byte) error {
		st.digests.replace(key, before, after)
		size += int64(len(key)+len(after)) + 16
		if size > maxWrite {
			return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, int64(maxWrite))
		}
		return s.writes.add(b, key, after)
	})
	if err == nil {
		err = s.writes.flush(b)
	}
	st.batch, st.positions, st.mark = c.Batch, maps.Clone(c.Positions), slices.Clone(c.Mark)
	st.older, st.newer = older, newer
	return size, err
}
