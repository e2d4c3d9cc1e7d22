package dyngraph

import (
	"bytes"

	"motifd/dyngraph/property"
)

// attrs holds edge attributes in columns by edge index. A column takes no memory before its first use.
type attrs struct {
	ids   []string
	ts    []int64
	hasTS []uint64 // bitmap
	props [][]byte

	columns []valueColumn // of the declared properties

	bg     background
	spares struct {
		ids   spare[string]
		ts    spare[int64]
		props spare[[]byte]
	}
}

func (a *attrs) get(e EdgeIndex) Attr {
	var r Attr
	if int(e) < len(a.ids) {
		r.ID = a.ids[e]
	}
	if int(e) < len(a.ts) && a.hasTS[e>>6]>>(e&63)&1 != 0 {
		r.TS, r.HasTS = a.ts[e], true
	}
	if int(e) < len(a.props) {
		r.Props = a.props[e]
	}
	if len(a.columns) > 0 {
		r.Values = a.values(e)
	}
	return r
}

func (a *attrs) set(e EdgeIndex, v *Attr) {
	if v.ID != "" || int(e) < len(a.ids) {
		a.ids = a.spares.ids.grown(a.bg, a.ids, int(e)+1)
		a.ids[e] = v.ID
	}
	if v.HasTS || int(e) < len(a.ts) {
		a.ts = a.spares.ts.grown(a.bg, a.ts, int(e)+1)
		a.hasTS = grown(a.hasTS, int(e)/64+1)
		if v.HasTS {
			a.ts[e] = v.TS
			a.hasTS[e>>6] |= 1 << (e & 63)
		} else {
			a.hasTS[e>>6] &^= 1 << (e & 63)
		}
	}
	if v.Props != nil || int(e) < len(a.props) {
		a.props = a.spares.props.grown(a.bg, a.props, int(e)+1)
		a.props[e] = v.Props
	}
	for i := range a.columns {
		a.columns[i].put(a.bg, e, v.Value(i))
	}
}

func (a *attrs) clear(e EdgeIndex) { a.set(e, &Attr{}) }

// normal drops a time that does not count, so that equal attributes compare equal.
func (a Attr) normal() Attr {
	if !a.HasTS {
		a.TS = 0
	}
	if len(a.Props) == 0 {
		a.Props = nil
	}
	a.Values = property.WithoutNulls(a.Values)
	return a
}

func (a *Attr) equal(b *Attr) bool {
	return a.ID == b.ID && a.HasTS == b.HasTS && (!a.HasTS || a.TS == b.TS) && bytes.Equal(a.Props, b.Props) &&
		equalValues(a.Values, b.Values)
}
