package streamtest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
)

// ErrCrash is the error of every call from the crash on.
var ErrCrash = errors.New("simulated crash")

// CrashPoint says how much of the k-th call is done.
type CrashPoint int

// The points of a crash.
const (
	CrashBefore CrashPoint = iota // nothing of the call
	CrashHalf                     // a Write does half of its records; other calls nothing
	CrashAfter                    // all of it, but the caller is not told
)

// Faults wraps the ends of a pipeline such that they all fail together: the k-th call over all of them, and every
// later one, returns ErrCrash. Reads are not counted, as nothing of them is durable, but fail after the crash; Close
// always passes.
type Faults struct {
	// OnCrash, when set, is called at the crash, once as much of the call is done as is to be: to take an image of a
	// disk, say.
	OnCrash func()

	mu    sync.Mutex
	at    int // 0 never
	point CrashPoint
	calls int
	down  bool
	op    string
}

// CrashAt crashes at call k, from 1; 0 never crashes.
func CrashAt(k int, point CrashPoint) *Faults { return &Faults{at: k, point: point} }

// Calls returns how many calls were counted.
func (f *Faults) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// Crashed tells whether the crash has come, and at which operation.
func (f *Faults) Crashed() (op string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.op, f.down
}

// do counts a call. half does half of it, and may be nil.
func (f *Faults) do(op string, all, half func() error) error {
	f.mu.Lock()
	if f.down {
		f.mu.Unlock()
		return ErrCrash
	}
	f.calls++
	now := f.calls == f.at
	if now {
		f.down, f.op = true, op
	}
	f.mu.Unlock()
	if !now {
		return all()
	}
	var err error
	switch {
	case f.point == CrashAfter:
		err = all()
	case f.point == CrashHalf && half != nil:
		err = half()
	}
	if f.OnCrash != nil {
		f.OnCrash()
	}
	return errors.Join(fmt.Errorf("%w at call %d, %s", ErrCrash, f.at, op), err)
}

// Source wraps a source.
func (f *Faults) Source(s stream.Source) stream.Source { return &faultySource{s, f} }

type faultySource struct {
	stream.Source
	f *Faults
}

func (s *faultySource) Read(ctx context.Context) ([]stream.Record, error) {
	if _, down := s.f.Crashed(); down {
		return nil, ErrCrash
	}
	return s.Source.Read(ctx)
}

// Sink wraps a sink.
func (f *Faults) Sink(s stream.Sink) stream.Sink { return &faultySink{s, f} }

type faultySink struct {
	stream.Sink
	f *Faults
}

func (s *faultySink) Open(
	ctx context.Context,
	id string,
	batch uint64,
	mark stream.Mark,
	fresh bool,
) (p stream.Progress, err error) {
	err = s.f.do("Sink.Open", func() (err error) { p, err = s.Sink.Open(ctx, id, batch, mark, fresh); return }, nil)
	return p, err
}

func (s *faultySink) Begin(ctx context.Context, batch uint64) error {
	return s.f.do("Sink.Begin", func() error { return s.Sink.Begin(ctx, batch) }, nil)
}

func (s *faultySink) Write(ctx context.Context, recs []stream.OutRecord) error {
	return s.f.do("Sink.Write",
		func() error { return s.Sink.Write(ctx, recs) },
		func() error { return s.Sink.Write(ctx, recs[:len(recs)/2]) })
}

func (s *faultySink) End(ctx context.Context, t stream.Tail) (m stream.Mark, err error) {
	err = s.f.do("Sink.End", func() (err error) { m, err = s.Sink.End(ctx, t); return }, nil)
	return m, err
}

// Store wraps a store.
func (f *Faults) Store(s stream.Store) stream.Store { return &faultyStore{s, f} }

type faultyStore struct {
	stream.Store
	f *Faults
}

func (s *faultyStore) Recover(ctx context.Context) (st *stream.State, err error) {
	err = s.f.do("Store.Recover", func() (err error) { st, err = s.Store.Recover(ctx); return }, nil)
	return st, err
}

func (s *faultyStore) Bootstrap(ctx context.Context, g *dyngraph.Graph) error {
	return s.f.do("Store.Bootstrap", func() error { return s.Store.Bootstrap(ctx, g) }, nil)
}

func (s *faultyStore) Intent(ctx context.Context, b *stream.Batch) error {
	return s.f.do("Store.Intent", func() error { return s.Store.Intent(ctx, b) }, nil)
}

// StartIntent counts twice, when it begins and when it is waited for.
func (s *faultyStore) StartIntent(ctx context.Context, b *stream.Batch) (logged func() error) {
	var wait func() error
	if err := s.f.do("Store.StartIntent", func() error { wait = start(ctx, s.Store, b); return nil }, nil); err != nil {
		return func() error { return err }
	}
	return func() error { return s.f.do("Store.Intent", wait, nil) }
}

// start begins an intent; a store that cannot writes it when it is waited for.
func start(ctx context.Context, s stream.Store, b *stream.Batch) (logged func() error) {
	if st, ok := s.(stream.IntentStarter); ok {
		return st.StartIntent(ctx, b)
	}
	return func() error { return s.Intent(ctx, b) }
}

func (s *faultyStore) Decide(batch uint64, x matcher.Decision) error {
	return s.f.do("Store.Decide", func() error { return s.Store.Decide(batch, x) }, nil)
}

func (s *faultyStore) Commit(ctx context.Context, c *stream.CommitInfo) error {
	return s.f.do("Store.Commit", func() error { return s.Store.Commit(ctx, c) }, nil)
}
