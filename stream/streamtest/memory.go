package streamtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
)

// Input is an input in memory. An offset is a record's index in its partition.
type Input struct {
	// Endless inputs wait for more records until End is called.
	Endless bool

	mu    sync.Mutex
	parts map[int32][]stream.Record
	start map[int32]int64 // records before it were lost
	more  chan struct{}   // closed and replaced when something changes
}

// NewInput returns an empty input.
func NewInput(endless bool) *Input {
	return &Input{
		Endless: endless,
		parts:   map[int32][]stream.Record{},
		start:   map[int32]int64{},
		more:    make(chan struct{}),
	}
}

func (in *Input) change(f func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	f()
	close(in.more)
	in.more = make(chan struct{})
}

// Add appends records: Partition, Key, Value and Time are taken.
func (in *Input) Add(recs ...stream.Record) {
	in.change(func() {
		for _, r := range recs {
			r.Offset = int64(len(in.parts[r.Partition]))
			r.Next = r.Offset + 1
			in.parts[r.Partition] = append(in.parts[r.Partition], r)
		}
	})
}

// End makes an endless input end after what it holds.
func (in *Input) End() { in.change(func() { in.Endless = false }) }

// Lose makes the records of a partition up to and with the offset unavailable.
func (in *Input) Lose(partition int32, offset int64) {
	in.change(func() { in.start[partition] = offset + 1 })
}

// Source returns a source that reads at most perRead records at once, 0 for all there are.
func (in *Input) Source(perRead int) stream.Source {
	return &memSource{in: in, per: perRead, at: stream.Positions{}, closed: make(chan struct{})}
}

type memSource struct {
	in     *Input
	per    int
	at     stream.Positions
	once   sync.Once
	closed chan struct{}
}

func (s *memSource) Seek(_ context.Context, at stream.Positions) error {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	for p, o := range at {
		if o < s.in.start[p] || o > int64(len(s.in.parts[p])) {
			return fmt.Errorf("%w: partition %d, offset %d", stream.ErrDataLoss, p, o)
		}
	}
	s.at = maps.Clone(at)
	if s.at == nil {
		s.at = stream.Positions{}
	}
	return nil
}

func (s *memSource) Read(ctx context.Context) ([]stream.Record, error) {
	for {
		select {
		case <-s.closed:
			return nil, errors.New("source is closed")
		default:
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		recs, end, more := s.next()
		if len(recs) > 0 {
			return recs, nil
		}
		if end {
			return nil, io.EOF
		}
		select {
		case <-more:
		case <-ctx.Done():
		case <-s.closed:
		}
	}
}

func (s *memSource) next() (recs []stream.Record, end bool, more chan struct{}) {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	for _, p := range slices.Sorted(maps.Keys(s.in.parts)) {
		for _, r := range s.in.parts[p][s.at[p]:] {
			if s.per > 0 && len(recs) == s.per {
				break
			}
			r.Key, r.Value = slices.Clone(r.Key), slices.Clone(r.Value)
			recs = append(recs, r)
			s.at[p] = r.Next
		}
	}
	return recs, !s.in.Endless, s.in.more
}

func (s *memSource) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

// OutputMode is how an Output behaves across crashes.
type OutputMode int

// The modes.
const (
	// Truncated outputs go back to the mark, as files do.
	Truncated OutputMode = iota
	// Tracked outputs know the next index, as transactions with a progress record do.
	Tracked
	// Blind outputs cannot tell what was published.
	Blind
)

// MemOutput is an output in memory.
type MemOutput struct {
	Mode OutputMode

	mu       sync.Mutex
	out      Output
	progress stream.Progress
	base     memMark // the content when a fresh checkpoint began
	owner    *memSink
}

type memMark struct{ Main, Dead, Control int }

// Visible returns what was published.
func (o *MemOutput) Visible() Output {
	o.mu.Lock()
	defer o.mu.Unlock()
	return Output{slices.Clone(o.out.Main), slices.Clone(o.out.DeadLetters), slices.Clone(o.out.Control)}
}

// Sink returns a sink over the output.
func (o *MemOutput) Sink(allowExisting bool) stream.Sink { return &memSink{o: o, allow: allowExisting} }

// Crash lets go of the output without anything else.
func (o *MemOutput) Crash(s stream.Sink) { s.Close() }

type memSink struct {
	o     *MemOutput
	allow bool
	batch uint64
}

func (s *memSink) Open(
	_ context.Context,
	id string,
	batch uint64,
	committed stream.Mark,
	fresh bool,
) (stream.Progress, error) {
	o := s.o
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.owner != nil {
		return stream.Progress{}, stream.ErrLocked
	}
	if fresh {
		if len(o.out.Main) > 0 && !s.allow {
			return stream.Progress{}, stream.ErrOutputNotEmpty
		}
		o.base = memMark{len(o.out.Main), len(o.out.DeadLetters), len(o.out.Control)}
		o.progress = stream.Progress{Stream: id, Batch: 0, Known: true}
	}
	o.owner = s
	switch o.Mode {
	case Tracked:
		return o.progress, nil
	case Blind:
		return stream.Progress{Stream: id}, nil
	}
	m := o.base
	if committed != nil {
		if err := json.Unmarshal(committed, &m); err != nil {
			return stream.Progress{}, err
		}
	}
	o.out.Main, o.out.DeadLetters, o.out.Control = o.out.Main[:m.Main], o.out.DeadLetters[:m.Dead],
		o.out.Control[:m.Control]
	return stream.Progress{Stream: id, Batch: batch + 1, Known: true}, nil
}

func (s *memSink) locked(f func(o *MemOutput)) error {
	s.o.mu.Lock()
	defer s.o.mu.Unlock()
	if s.o.owner != s {
		return errors.New("sink is not open")
	}
	f(s.o)
	return nil
}

func (s *memSink) Begin(_ context.Context, batch uint64) error {
	return s.locked(func(*MemOutput) { s.batch = batch })
}

func (s *memSink) Write(_ context.Context, recs []stream.OutRecord) error {
	return s.locked(func(o *MemOutput) {
		for _, r := range recs {
			r.Key, r.Value = slices.Clone(r.Key), slices.Clone(r.Value)
			o.out.Main = append(o.out.Main, r)
			o.progress.Batch, o.progress.Index = r.Batch, r.Index+1
		}
	})
}

func (s *memSink) End(_ context.Context, t stream.Tail) (mark stream.Mark, err error) {
	err2 := s.locked(func(o *MemOutput) {
		o.out.DeadLetters = append(o.out.DeadLetters, t.DeadLetters...)
		if t.BatchRecord != nil {
			o.out.Control = append(o.out.Control, *t.BatchRecord)
		}
		o.progress.Batch, o.progress.Index = s.batch+1, 0
		mark, err = json.Marshal(memMark{len(o.out.Main), len(o.out.DeadLetters), len(o.out.Control)})
	})
	return mark, errors.Join(err, err2)
}

func (s *memSink) Partitions() int32 { return 0 }

func (s *memSink) Close() error {
	s.o.mu.Lock()
	defer s.o.mu.Unlock()
	if s.o.owner == s {
		s.o.owner = nil
	}
	return nil
}

// Store is a Store in memory. It keeps no graph: a recovery repeats the steps of Committed.
type Store struct {
	ID string

	mu        sync.Mutex
	intents   []stream.Batch // all, ascending
	committed int            // of intents
	started   []stream.Batch // intents that are not durable: at most one
	last      *stream.CommitInfo
}

var _ stream.Store = (*Store)(nil)

// Committed returns the committed batches, which lead to the present graph and queries.
func (s *Store) Committed() []stream.Batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.intents[:s.committed])
}

// Recover implements stream.Store; the state's Graph and Queries are left to the caller.
func (s *Store) Recover(context.Context) (*stream.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = nil
	st := &stream.State{
		StreamID: s.ID, Fresh: len(s.intents) == 0, Batch: uint64(s.committed), Positions: stream.Positions{},
		Open: slices.Clone(s.intents[s.committed:]),
	}
	if s.committed > 0 {
		if d := s.intents[s.committed-1].Declaration; d != nil && !d.Last() {
			st.Declaration = d
		}
	}
	if s.last != nil {
		st.Positions, st.Mark, st.Time = maps.Clone(s.last.Positions), s.last.Mark, s.last.Time
	}
	return st, nil
}

// Bootstrap implements stream.Store; nothing is kept.
func (s *Store) Bootstrap(context.Context, *dyngraph.Graph) error { return nil }

// Intent implements stream.Store.
func (s *Store) Intent(ctx context.Context, b *stream.Batch) error { return s.StartIntent(ctx, b)() }

// StartIntent implements stream.IntentStarter as lazily as it may: the intent is lost in a crash unless somebody has
// waited for it, here, in the intent after it or in a suspension.
func (s *Store) StartIntent(_ context.Context, b *stream.Batch) (logged func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.finish(); err != nil {
		return func() error { return err }
	}
	s.started = append(s.started, *b)
	return func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.finish()
	}
}

// finish makes durable what was started.
func (s *Store) finish() error {
	if len(s.started) == 0 {
		return nil
	}
	b := s.started[0]
	s.started = nil
	if b.Number != uint64(len(s.intents))+1 {
		return fmt.Errorf("intent of batch %d after %d", b.Number, len(s.intents))
	}
	s.intents = append(s.intents, b)
	return nil
}

// Decide implements stream.Store.
func (s *Store) Decide(batch uint64, x matcher.Decision) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.finish(); err != nil {
		return err
	}
	if batch > uint64(len(s.intents)) || int(batch) <= s.committed {
		return fmt.Errorf("decision about batch %d, which is not open", batch)
	}
	b := &s.intents[batch-1]
	b.Decisions = append(slices.Clone(b.Decisions), x)
	return nil
}

// Commit implements stream.Store.
func (s *Store) Commit(_ context.Context, c *stream.CommitInfo) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Batch != uint64(s.committed)+1 || int(c.Batch) > len(s.intents) {
		return fmt.Errorf("commit of batch %d: %d are committed of %d", c.Batch, s.committed, len(s.intents))
	}
	s.committed++
	s.last = c
	return nil
}

// Close implements stream.Store.
func (s *Store) Close() error { return nil }
