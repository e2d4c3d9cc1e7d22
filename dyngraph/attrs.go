package dyngraph

import "bytes"

// attrs holds edge attributes in columns by edge index. A column takes no memory before its first use.
type attrs struct {
	ids   []string
	ts    []int64
	hasTS []uint64 // bitmap
	props [][]byte
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
	return r
}

func (a *attrs) set(e EdgeIndex, v *Attr) {
	if v.ID != "" || int(e) < len(a.ids) {
		a.ids = grown(a.ids, int(e)+1)
		a.ids[e] = v.ID
	}
	if v.HasTS || int(e) < len(a.ts) {
		a.ts = grown(a.ts, int(e)+1)
		a.hasTS = grown(a.hasTS, int(e)/64+1)
		if v.HasTS {
			a.ts[e] = v.TS
			a.hasTS[e>>6] |= 1 << (e & 63)
		} else {
			a.hasTS[e>>6] &^= 1 << (e & 63)
		}
	}
	if v.Props != nil || int(e) < len(a.props) {
		a.props = grown(a.props, int(e)+1)
		a.props[e] = v.Props
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
	return a
}

func (a *Attr) equal(b *Attr) bool {
	return a.ID == b.ID && a.HasTS == b.HasTS && (!a.HasTS || a.TS == b.TS) && bytes.Equal(a.Props, b.Props)
}

// grown returns s with a length of at least n; new elements are zero.
func grown[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n <= cap(s) {
		return s[:n] // what lies beyond the length has never been used: no column shrinks
	}
	c := max(n, cap(s)+cap(s)/8+64)
	t := make([]T, n, c)
	copy(t, s)
	return t
}
