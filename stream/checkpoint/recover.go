package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"motifd/dyngraph"
	"motifd/stream"
)

// scanner reads the records of one space in key order. What it passes is borrowed until f returns.
type scanner interface {
	scan(ctx context.Context, space byte, f func(key, value []byte) error) error
}

// ctxEvery is the number of records that are read between two polls of the context.
const ctxEvery = 4096

// scan reads a space of the database.
func (d *database) scan(ctx context.Context, s byte, f func(key, value []byte) error) error {
	lower, upper := space(s)
	return d.scanRange(ctx, lower, upper, f)
}

func (d *database) scanRange(ctx context.Context, lower, upper []byte, f func(key, value []byte) error) (err error) {
	it, err := d.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return unreadable(d.dir, err)
	}
	defer func() {
		if cerr := it.Close(); cerr != nil {
			err = errors.Join(err, unreadable(d.dir, cerr))
		}
	}()
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		if n++; n%ctxEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		v, err := it.ValueAndErr()
		if err != nil {
			return unreadable(d.dir, err)
		}
		if err := f(it.Key(), v); err != nil {
			return err
		}
	}
	return nil // Close reports what the iterator met
}

// lengths is scanRange without reading the values, unless f asks for one.
func (d *database) lengths(
	lower, upper []byte,
	f func(key []byte, n int, value func() ([]byte, error)) error,
) (err error) {
	it, err := d.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return unreadable(d.dir, err)
	}
	defer func() {
		if cerr := it.Close(); cerr != nil {
			err = errors.Join(err, unreadable(d.dir, cerr))
		}
	}()
	for ok := it.First(); ok; ok = it.Next() {
		v := it.LazyValue()
		if err := f(it.Key(), v.Len(), it.ValueAndErr); err != nil {
			return err
		}
	}
	return nil
}

// Recover loads the state as of the last committed batch, and the open intents. It is called once.
func (s *Store) Recover(ctx context.Context) (*stream.State, error) {
	s.mu.Lock()
	st, queries, log, again := s.state, s.queries, s.log, s.recovered
	s.recovered = true
	s.mu.Unlock()
	if again {
		return nil, errors.New("checkpoint: Recover was called twice")
	}
	g, err := loadGraph(ctx, s.db, s.graphOptions(), &st)
	if err != nil {
		return nil, fmt.Errorf("checkpoint %s: recover: %w", s.db.dir, err)
	}
	s.mu.Lock()
	s.state.digests = st.digests
	s.mu.Unlock()
	once, err := readOnce(ctx, s.db)
	if err != nil {
		return nil, fmt.Errorf("checkpoint %s: recover: %w", s.db.dir, err)
	}
	out := &stream.State{
		StreamID:  s.streamID,
		Fresh:     st.batch == 0 && len(log.open) == 0,
		Batch:     st.batch,
		Graph:     g,
		Queries:   remembered(slices.Clone(queries), once),
		Positions: maps.Clone(st.positions),
		Mark:      slices.Clone(st.mark),
		Time:      st.time,

		Declaration: s.settings.Declaration,
	}
	for _, e := range log.open {
		in, err := s.db.readIntent(e)
		if err != nil {
			return nil, fmt.Errorf("checkpoint %s: recover: %w", s.db.dir, err)
		}
		out.Open = append(out.Open, in.batch)
	}
	return out, nil
}

func (s *Store) graphOptions() dyngraph.Options {
	opt := s.opt.Graph
	opt.Directed, opt.EdgeIDs, opt.Schema = s.settings.Directed, s.settings.EdgeIDs, s.settings.Properties
	return opt
}

// readIntent reads the intent of a batch with the decisions that were added to it.
func (d *database) readIntent(e logEntry) (*intent, error) {
	dec, err := d.checked(logKey(e.batch, partIntent))
	if err != nil {
		return nil, err
	}
	in, err := dec.intent()
	if err != nil {
		return nil, fmt.Errorf("batch %d: %w", e.batch, err)
	}
	if in.batch.Number != e.batch {
		return nil, damaged("the intent of batch %d says that it is batch %d", e.batch, in.batch.Number)
	}
	for n := range e.decisions {
		dec, err := d.checked(decisionKey(e.batch, n))
		if err != nil {
			return nil, err
		}
		u := dec.decision()
		if err := dec.finish("a decision"); err != nil {
			return nil, fmt.Errorf("batch %d: %w", e.batch, err)
		}
		in.batch.Decisions = append(in.batch.Decisions, u)
	}
	return in, nil
}

// readDone reads what a committed batch did.
func (d *database) readDone(batch uint64) (*done, error) {
	dec, err := d.checked(logKey(batch, partDone))
	if err != nil {
		return nil, err
	}
	o, err := dec.done()
	if err != nil {
		return nil, fmt.Errorf("batch %d: %w", batch, err)
	}
	return o, nil
}

// loadGraph streams the content in key order into a new graph, and checks it against the digests of the state, which
// then tell its bytes as well.
func loadGraph(ctx context.Context, sc scanner, opt dyngraph.Options, st *state) (*dyngraph.Graph, error) {
	l := dyngraph.NewLoader(opt)
	var got digests
	next := uint32(1)
	err := sc.scan(ctx, spaceLabel, func(key, value []byte) error {
		id, ok := parseID(key)
		if !ok || id != next {
			return damaged("label key %x where label %d was expected", key, next)
		}
		next++
		got.labels.add(key, value)
		return l.Label(string(value))
	})
	if err != nil {
		return nil, err
	}
	err = sc.scan(ctx, spaceVertex, func(key, value []byte) error {
		id, ok := parseID(key)
		if !ok {
			return damaged("vertex key %x", key)
		}
		v, ok := decodeVertex(id, value)
		if !ok {
			return damaged("the record of vertex %d cannot be decoded", id)
		}
		got.vertices.add(key, value)
		return l.Vertex(v)
	})
	if err != nil {
		return nil, err
	}
	err = sc.scan(ctx, spaceEdge, func(key, value []byte) error {
		r, err := decodeEdge(key, value, opt.EdgeIDs)
		if err != nil {
			return err
		}
		got.edges.add(key, value)
		return l.Edge(r)
	})
	if err != nil {
		return nil, err
	}
	if err := got.differ(st.digests); err != nil {
		return nil, damaged("%v", err)
	}
	st.digests = got
	l.Pending(st.older, st.newer)
	return l.Graph()
}

// decodeEdge reads an edge. edgeIDs tells that ids identify edges: they are in keys, not in values.
func decodeEdge(key, value []byte, edgeIDs bool) (dyngraph.EdgeRecord, error) {
	r, ok := parseEdge(key)
	if !ok || r.Attr.ID != "" && !edgeIDs {
		return r, damaged("edge key %x", key)
	}
	if len(value) > 0 {
		d := decoder{b: value}
		a := d.attr()
		if d.bad || len(d.b) != 0 || a.ID != "" && edgeIDs {
			return r, damaged("the attributes of %s cannot be decoded", edgeName(&r))
		}
		if edgeIDs {
			a.ID = r.Attr.ID
		}
		r.Attr = a
	}
	return r, nil
}
