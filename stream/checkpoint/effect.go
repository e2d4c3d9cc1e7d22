package checkpoint

import "motifd/dyngraph"

// changes calls yield for every record that the effect changed, in the order in which they apply: the key, and the
// values before and after, nil where there is no record. What it passes is borrowed until yield returns.
//
// Commit writes the values after, undoing writes those before in reverse order, and the digests follow both.
func changes(e *dyngraph.Effect, yield func(key, before, after []byte) error) error {
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
	edges := func(es []dyngraph.EdgeRecord, f func(r *dyngraph.EdgeRecord) (before, after []byte)) error {
		for i := range es {
			r := &es[i]
			before, after := f(r)
			if err := yield(edgeKey(key, r.From, r.Label, r.To), before, after); err != nil {
				return err
			}
		}
		return nil
	}
	// Deleted edges go before the vertices that they end at, and inserted ones come after theirs.
	if err := edges(e.Deleted, func(r *dyngraph.EdgeRecord) ([]byte, []byte) {
		one = appendAttr(one[:0], &r.Attr)
		return one, nil
	}); err != nil {
		return err
	}
	if err := edges(e.Inserted, func(r *dyngraph.EdgeRecord) ([]byte, []byte) {
		one = appendAttr(one[:0], &r.Attr)
		return nil, one
	}); err != nil {
		return err
	}
	if err := edges(e.Renewed, func(r *dyngraph.EdgeRecord) ([]byte, []byte) {
		one, two = appendAttr(one[:0], &r.Previous), appendAttr(two[:0], &r.Attr)
		return one, two
	}); err != nil {
		return err
	}
	for i := range e.Freed {
		v := &e.Freed[i]
		if err := yield(vertexKey(key, v.ID), appendVertex(one[:0], v), nil); err != nil {
			return err
		}
	}
	return nil
}
