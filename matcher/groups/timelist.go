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
	changed []int64 // places that the staged batch changes
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

// insert adds an entry, and returns its place; last tells that it is the last one.
func (l *timeList) insert(e entry) (place int64, last bool) {
	n := len(l.entries)
	if n == 0 || l.entries[n-1].compare(&e) <= 0 {
		l.entries = append(l.entries, e)
		return l.end() - 1, true
	}
	i := sort.Search(n, func(i int) bool { return l.entries[i].compare(&e) > 0 })
	l.entries = slices.Insert(l.entries, i, e)
	return l.first + int64(i), false
}

// enter adds an entry that the staged batch inserts, and reports whether it is the last one.
func (l *timeList) enter(e entry) (last bool) {
	e.state = inNew
	place, last := l.insert(e)
	if !last {
		for i, p := range l.changed {
			if p >= place {
				l.changed[i]++
			}
		}
	}
	l.changed = append(l.changed, place)
	return last
}

// leave notes that the staged batch deletes an entry.
func (l *timeList) leave(place int64) {
	l.at(place).state = inOld
	l.changed = append(l.changed, place)
}

// find returns the place of an edge's version that is there, and whether there is one.
func (l *timeList) find(ts int64, edge uint32) (int64, bool) {
	for place := l.from(ts); place < l.end() && l.at(place).ts == ts; place++ {
		if e := l.at(place); e.edge == edge && e.state == inBoth {
			return place, true
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
