package codec

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
)

// EncoderOptions shape the output records. All three are part of what a replay must repeat (DESIGN P2).
type EncoderOptions struct {
	// StreamID names the stream; it stands in every record.
	StreamID string
	// Upsert makes a cancellation a tombstone: a record with the match id as its key and no value, so that a compacted
	// topic holds the current matches.
	Upsert bool
	// EchoProps repeats the undeclared properties of the mapped edges in every match; the declared ones are always
	// there.
	EchoProps bool
}

// Encoder writes results as JSON. It implements stream.Encoder and is safe for concurrent use.
type Encoder struct {
	opt  EncoderOptions
	head []byte // {"stream":"...","batch":

	// forms holds what is the same in every record of a query. Queries are immutable, so their address names them; the
	// map is replaced, never changed.
	forms   atomic.Pointer[map[*matcher.Query]*form]
	formsMu sync.Mutex

	scratch sync.Pool // of *scratch
}

var _ stream.Encoder = (*Encoder)(nil)

// maxForms bounds the cache; queries that are gone leave it when it is started afresh.
const maxForms = 4096

// NewEncoder returns an encoder.
func NewEncoder(opt EncoderOptions) *Encoder {
	e := &Encoder{opt: opt}
	e.head = appendString([]byte(`{"stream":`), opt.StreamID)
	e.head = append(e.head, `,"batch":`...)
	e.scratch.New = func() any { return new(scratch) }
	e.forms.Store(&map[*matcher.Query]*form{})
	return e
}

func (e *Encoder) form(q *matcher.Query) *form {
	if f := (*e.forms.Load())[q]; f != nil {
		return f
	}
	e.formsMu.Lock()
	defer e.formsMu.Unlock()
	old := *e.forms.Load()
	if f := old[q]; f != nil {
		return f
	}
	all := make(map[*matcher.Query]*form, len(old)+1)
	if len(old) < maxForms {
		for k, v := range old {
			all[k] = v
		}
	}
	f := newForm(q)
	all[q] = f
	e.forms.Store(&all)
	return f
}

// Append implements stream.Encoder. The records of one call may share memory with each other, and with nothing else.
func (e *Encoder) Append(
	dst []stream.OutRecord,
	ev *matcher.Event,
	i, j int,
) ([]stream.OutRecord, error) {
	if ev.Kind == matcher.EventNotice {
		return e.appendNotice(dst, ev)
	}
	if ev.Kind != matcher.EventMatches {
		return e.appendScalar(dst, ev)
	}
	if i < 0 || j > ev.Rows.Len() || i > j {
		return dst, fmt.Errorf("encode rows %d to %d of an event that has %d", i, j, ev.Rows.Len())
	}
	q := ev.Pattern()
	if v, n := len(q.Vertices), len(q.Edges); ev.Rows.Vertices != v || ev.Rows.Edges != n {
		return dst, fmt.Errorf("encode a match of query %q: rows have %d vertices and %d edges, the pattern has %d "+
			"and %d",
			ev.Query.Name, ev.Rows.Vertices, ev.Rows.Edges, v, n)
	}
	f := e.form(q)
	s := e.scratch.Get().(*scratch)
	defer e.scratch.Put(s)
	w := eventWriter{e: e, f: f, s: s, ev: ev, q: q, directed: ev.View.Graph().Directed()}
	w.tombstone = e.opt.Upsert && ev.Sign == dyngraph.Deleted
	w.begin()
	known := f.size.Load()
	size := known
	var chunk []byte
	for r := i; r < j; r++ {
		if need := int(size); cap(chunk)-len(chunk) < need {
			chunk = make([]byte, 0, min(need*(j-r), max(need, chunkSize)))
		}
		rec := stream.OutRecord{
			Batch: ev.Batch, Index: ev.FirstIndex + uint64(r), Query: ev.Query.Name, Sign: ev.Sign,
			Snapshot: ev.Snapshot,
		}
		from := len(chunk)
		if err := w.load(ev.Rows.Row(r)); err != nil {
			return dst, fmt.Errorf("encode match %d of batch %d, query %q: %w", rec.Index, ev.Batch, rec.Query, err)
		}
		key := from
		if w.tombstone {
			chunk = appendHex(chunk, w.matchID())
		} else {
			chunk, key = w.record(chunk, rec.Index)
			rec.Value = chunk[from:len(chunk):len(chunk)]
			size = nextSize(size, len(chunk)-from)
		}
		rec.Key = chunk[key : key+32 : key+32]
		dst = append(dst, rec)
	}
	f.keepSize(known, size)
	return dst, nil
}

// chunkSize is the most memory that records share, in bytes: a record that is kept keeps its chunk.
const chunkSize = 64 << 10

var errScalarUpsert = errors.New("upsert output goes with emit: deltas only")

// appendScalar encodes the one record of a counts or exists event.
func (e *Encoder) appendScalar(dst []stream.OutRecord, ev *matcher.Event) ([]stream.OutRecord, error) {
	if e.opt.Upsert {
		return dst, fmt.Errorf("encode a result of query %q: %w", ev.Query.Name, errScalarUpsert)
	}
	f := e.form(ev.Query)
	b := make([]byte, 0, len(e.head)+len(f.query)+160)
	b = append(b, e.head...)
	b = strconv.AppendUint(b, ev.Batch, 10)
	b = append(b, `,"index":`...)
	b = strconv.AppendUint(b, ev.FirstIndex, 10)
	b = append(b, f.query...)
	b = append(b, ev.Sign.String()...)
	switch ev.Kind {
	case matcher.EventCount:
		b = append(b, `","emit":"counts","count":`...)
		if n, fits := ev.Count.Uint64(); fits {
			b = strconv.AppendUint(b, n, 10)
		} else {
			b = append(b, ev.Count.String()...)
		}
	case matcher.EventExists:
		b = append(b, `","emit":"exists"`...)
	default:
		return dst, fmt.Errorf("encode a result of query %q: event kind %d is unknown", ev.Query.Name, ev.Kind)
	}
	if ev.Snapshot {
		b = append(b, `,"snapshot":true`...)
	}
	b = append(b, '}')
	return append(dst, stream.OutRecord{
		Key: []byte(ev.Query.Name), Value: b, Batch: ev.Batch, Index: ev.FirstIndex,
		Query: ev.Query.Name, Sign: ev.Sign, Snapshot: ev.Snapshot,
	}), nil
}
