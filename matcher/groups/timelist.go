package groups

import (
	"cmp"
	"slices"
	"sort"
)

// timeList holds the edges of a hub that can be the images of a spoke, by ts: a second order beside that of neighbours
// (DESIGN A16, A19). Places count from the first entry that it ever had; they stay when entries leave at the front.
type timeList struct {
	entries []entry
	first   int64   // place of entries[0]
	dead    int     // entries that are gone, but for those at the front
	changed []int64 // places that the staged batch changes, ascending
}

// entry is a version of an edge.
type entry struct {
	ts          int64
	edge, other uint32
	state       entryState
}

type entryState uint8

const (
	inBoth entryState = iota
	inOld             // the staged batch deletes it
	inNew             // the staged batch inserts it
	gone
)

// in reports whether a view has the entry; which is 0 for the old one.
func (s entryState) in(which int) bool { return s == inBoth || s == inOld+entryState(which) }

func (e *entry) compare(f *entry) int {
	return cmp.Or(cmp.Compare(e.ts, f.ts), cmp.Compare(e.edge, f.edge))
}

// newTimeList sorts entries.
func newTimeList(entries []entry) timeList {
	slices.SortFunc(entries, func(a, b entry) int { return a.compare(&b) })
	return timeList{entries: entries}
}

// end is the place behind the last entry.
func (l *timeList) end() int64 { return l.first + int64(len(l.entries)) }

func (l *timeList) at(place int64) *entry { return &l.entries[place-l.first] }

// from returns the place of the first entry of a ts or a later one.
func (l *timeList) from(ts int64) int64 {
	n := len(l.entries)
	if n > 0 && l.entries[n-1].ts < ts {
		return l.end() // most often
	}
	return l.first + int64(sort.Search(n, func(i int) bool { return l.entries[i].ts >= ts }))
}

// stage takes note of what the staged batch inserts and deletes, and reports whether all that it inserts is behind what
// was there. changed is ascending then.
func (l *timeList) stage(inserted, deleted []entry) (behind bool) {
	slices.SortFunc(inserted, func(a, b entry) int { return a.compare(&b) })
	n := len(l.entries)
	behind = n == 0 || len(inserted) == 0 || l.entries[n-1].compare(&inserted[0]) <= 0
	l.entries = slices.Grow(l.entries, len(inserted))[:n+len(inserted)]
	for i, j, k := n-1, len(inserted)-1, len(l.entries)-1; j >= 0; k-- {
		if i >= 0 && l.entries[i].compare(&inserted[j]) > 0 {
			l.entries[k] = l.entries[i]
			i--
			continue
		}
		l.entries[k] = inserted[j]
		l.entries[k].state = inNew
		l.changed = append(l.changed, l.first+int64(k))
		j--
	}
	for i := range deleted {
		if place, ok := l.find(&deleted[i]); ok {
			l.at(place).state = inOld
			l.changed = append(l.changed, place)
		}
	}
	slices.Sort(l.changed)
	return behind
}

// find returns the place of an edge's version that is there, and whether there is one.
func (l *timeList) find(e *entry) (int64, bool) {
	n := len(l.entries)
	i := sort.Search(n, func(i int) bool { return l.entries[i].compare(e) >= 0 })
	for ; i < n && l.entries[i].compare(e) == 0; i++ {
		if l.entries[i].state == inBoth {
			return l.first + int64(i), true
		}
	}
	return 0, false
}

// settle makes what the staged batch did final, and drops what is gone at the front.
func (l *timeList) settle() {
	for _, place := range l.changed {
		switch e := l.at(place); e.state {
		case inNew:
			e.state = inBoth
		case inOld:
			e.state = gone
			l.dead++
		}
	}
	l.changed = l.changed[:0]
	front := 0
	for front < len(l.entries) && l.entries[front].state == gone {
		front++
	}
	l.entries, l.first, l.dead = l.entries[front:], l.first+int64(front), l.dead-front
}

// compact drops what is gone, and reports whether places have changed.
func (l *timeList) compact() bool {
	if l.dead <= len(l.entries)/4 {
		return false
	}
	l.entries = slices.DeleteFunc(l.entries, func(e entry) bool { return e.state == gone })
	l.dead = 0
	return true
}
