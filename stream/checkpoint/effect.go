package checkpoint

import "motifd/dyngraph"

// changes calls yield for every record that the effect changed, in the order in which they apply: the key, and the
// values before and after, nil where there is no record. What it passes is borrowed until yield returns.
//
// edgeIDs tells that ids identify edges: the keys have them.
//
// Commit writes the values after, undoing writes those before in reverse order, and the digests follow both.
func changes(e *dyngraph.Effect, edgeIDs bool, yield func(key, before, after []byte) error) error {
	key := make([]byte, 0, edgeKeyLen)
	// An edge without attributes has an empty value, which is not nil.
	one, two := make([]byte, 0, 256), make([]byte, 0, 256)
	for i, name := range e.NewLabels {
		id := dyngraph.LabelID(e.LabelsBefore + i)
		if err := yield(labelKey(key, id), nil, append(one[:0], name...)); err != nil {
			return err
		}
	}
	for i := range e.Created {
		v := &e.Created[i]
		if err := yield(vertexKey(key, v.ID), nil, appendVertex(one[:0], v)); err != nil {
			return err
		}
	}
	for i := range e.Declared {
		v := e.Declared[i]
		one = appendVertex(one[:0], &v)
		v.Implied = false
		two = appendVertex(two[:0], &v)
		if err := yield(vertexKey(key, v.ID), one, two); err != nil {
			return err
		}
	}
	edges := func(es []dyngraph.EdgeRecord, f func(r *dyngraph.EdgeRecord) (before, after []byte)) error {
		for i := range es {
			r := &es[i]
			before, after := f(r)
			id := ""
			if edgeIDs {
				id = r.Attr.ID
			}
			if err := yield(edgeKey(key, r.From, r.Label, r.To, id), before, after); err != nil {
				return err
			}
		}
		return nil
	}
	// Deleted edges go before the vertices that they end at, and inserted ones come after theirs.
	if err := edges(e.Deleted, func(r *dyngraph.EdgeRecord) ([]byte, []byte) {
		one = appendEdge(one[:0], &r.Attr, edgeIDs)
		return one, nil
	}); err != nil {
		return err
	}
	if err := edges(e.Inserted, func(r *dyngraph.EdgeRecord) ([]byte, []byte) {
		one = appendEdge(one[:0], &r.Attr, edgeIDs)
		return nil, one
	}); err != nil {
		return err
	}
	if err := edges(e.Renewed, func(r *dyngraph.EdgeRecord) ([]byte, []byte) {
		one, two = appendEdge(one[:0], &r.Previous, edgeIDs), appendEdge(two[:0], &r.Attr, edgeIDs)
		return one, two
	}); err != nil {
		return err
	}
	for i := range e.Revised {
		v := &e.Revised[i]
		was := dyngraph.VertexRecord{Label: v.Label, Key: v.Key, Values: v.Previous, Implied: v.Implied}
		one, two = appendVertex(one[:0], &was), appendVertex(two[:0], v)
		if err := yield(vertexKey(key, v.ID), one, two); err != nil {
			return err
		}
	}
	for i := range e.Freed {
		v := &e.Freed[i]
		if err := yield(vertexKey(key, v.ID), appendVertex(one[:0], v), nil); err != nil {
			return err
		}
	}
	return nil
}
