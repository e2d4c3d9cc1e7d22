package codec

import (
	"strconv"
	"sync/atomic"

	"motifd/dyngraph/property"
	"motifd/matcher"
)

// form has the parts that all records of a query share, encoded once.
type form struct {
	query    string // ,"query":"ring3","version":1,"op":"
	vertices []fragment
	edges    []fragment // of a path's edges and inner vertices, without what surrounds them
	paths    bool       // there are some
	// identity is the beginning of the preimage of every match id; identityByID is the one where ids identify edges.
	identity, identityByID []byte

	// All encoders read the fields above for each record: keep them out of a cache line that is written.
	_    [64]byte
	size atomic.Int64 // room that the next record will probably need
	_    [56]byte
}

// fragment surrounds what one pattern vertex or edge is mapped to.
type fragment struct {
	open  string // from the last value to this one's first
	label string // the pattern's label, "" for none
	mark  string // ,"label":"Account" for that label
}

func newForm(q *matcher.Query) *form {
	b := appendString([]byte(`,"query":`), q.Name)
	b = append(b, `,"version":`...)
	b = strconv.AppendUint(b, q.Version, 10)
	b = append(b, `,"op":"`...)
	f := &form{query: string(b), identity: appendIdentity(nil, q, false), identityByID: appendIdentity(nil, q, true)}
	f.paths = q.VariantOf() != nil
	outside, inPath := outsidePaths(q)
	open := `,"vertices":{`
	for i, v := range q.Vertices {
		if i >= outside {
			f.vertices = append(f.vertices, fragment{label: v.Label, mark: string(appendLabel(nil, v.Label))})
			continue
		}
		f.vertices = append(f.vertices, newFragment(open, v.Name, `:{"key":`, v.Label))
		open = `,`
	}
	open = `},"edges":{`
	for i, e := range q.Edges {
		if inPath[i] {
			f.edges = append(f.edges, fragment{label: e.Label, mark: string(appendLabel(nil, e.Label))})
			continue
		}
		f.edges = append(f.edges, newFragment(open, e.Name, `:{"from":`, e.Label))
		open = `,`
	}
	f.size.Store(256)
	return f
}

func newFragment(open, name, then, label string) fragment {
	b := append(appendString([]byte(open), name), then...)
	return fragment{string(b), label, string(appendLabel(nil, label))}
}

// appendLabel appends the label member that ends a vertex's key or an edge's ends.
func appendLabel(b []byte, label string) []byte {
	if label == "" {
		return b
	}
	return appendString(append(b, `,"label":`...), label)
}

// appendLabels appends the labels of a vertex that may have several, ascending; nothing if it has none.
func appendLabels(b []byte, labels property.Value) []byte {
	open := `,"labels":[`
	for l := range labels.EachLabel() {
		b = appendString(append(b, open...), l)
		open = ","
	}
	if open == "," {
		b = append(b, ']')
	}
	return b
}

// mapped appends the label member for the data label that the pattern's was mapped to.
func (f *fragment) mapped(b []byte, label string) []byte {
	if label == f.label {
		return append(b, f.mark...)
	}
	return appendLabel(b, label)
}

// nextSize returns the room that the record after one of n bytes will probably need, which was expected to need
// another: growth at once, shrinkage bit by bit, so that one giant record does not make room for others like it for
// ever.
func nextSize(expected int64, n int) int64 {
	size := int64(n + n/8)
	if size < expected {
		size = expected - (expected-size+7)/8
	}
	return size
}

// keepSize makes known what room the next record will probably need, unless that is about what is known: encoders
// side by side would wait for each other to write it. A record is an eighth smaller than the room that it makes for
// others, so that the room is enough.
func (f *form) keepSize(known, size int64) {
	if d := size - known; d > known/32 || d < -known/32 {
		f.size.Store(size)
	}
}
