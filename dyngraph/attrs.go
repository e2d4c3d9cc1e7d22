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

// id returns an edge's id, "" when it has none.
func (a *attrs) id(e EdgeIndex) string {
	if int(e) < len(a.ids) {
		return a.ids[e]
	}
	return ""
}

func (a *attrs) get(e EdgeIndex) Attr {
	r := a.outside(e)
	if len(a.columns) > 0 {
		r.Values = valuesAt(a.columns, uint32(e))
	}
	return r
}

// are tells whether an edge has the attributes.
func (a *attrs) are(e EdgeIndex, b *Attr) bool {
	was := a.outside(e)
	if was.ID != b.ID || was.HasTS != b.HasTS || was.HasTS && was.TS != b.TS || !bytes.Equal(was.Props, b.Props) {
		return false
	}
	for i := range a.columns {
		if a.columns[i].get(uint32(e)) != b.Value(i) {
			return false
		}
	}
	return true
}

// outside is get without the values in columns.
func (a *attrs) outside(e EdgeIndex) Attr {
	r := Attr{ID: a.id(e)}
	r.TS, r.HasTS = a.time(e)
	if int(e) < len(a.props) {
		r.Props = a.props[e]
	}
	return r
}

// time returns the edge's time; ok is false when it has none.
func (a *attrs) time(e EdgeIndex) (ts int64, ok bool) {
	if int(e) < len(a.ts) && a.hasTS[e>>6]>>(e&63)&1 != 0 {
		return a.ts[e], true
	}
	return 0, false
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
		a.columns[i].put(a.bg, uint32(e), v.Value(i))
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
