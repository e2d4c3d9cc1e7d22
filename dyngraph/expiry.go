package dyngraph

import (
	"cmp"
	"math"
	"slices"

	"motifd/dyngraph/property"
)

// Edges expire (DESIGN S20): a batch first deletes, at a place before its updates, the edges of the old graph whose
// time lies before the horizon of their label. The horizons are part of the batch, so that the graph decides nothing
// about time.

// Horizon is the time before which the edges of a label have expired.
type Horizon struct {
	Label  string `json:"label"`  // property.Any stands for the labels that no other Horizon names
	Before int64  `json:"before"` // milliseconds since the epoch; an edge with an earlier time has expired
}

// AtExpiry is the UpdateIndex of an edge that has expired: a place before all updates of the batch.
const AtExpiry = ^uint32(0) - 1

// expiry holds the horizons of the current batch and finds the edges before them.
type expiry struct {
	horizons []Horizon
	named    map[string]int // class by label: the place in horizons
	any      int            // class of the other labels, or -1
	classOf  []int32        // by label id, as far as it was asked for; -1 is no class
	calendar calendar
}

// SetHorizons sets the horizons that Accept and Stage go by from now on; none: no edge expires. It is for the owner of
// the graph, between batches. If the labels are others than before, every edge is read.
func (g *Graph) SetHorizons(hs []Horizon) {
	x := &g.expiry
	same := slices.EqualFunc(x.horizons, hs, func(a, b Horizon) bool { return a.Label == b.Label })
	x.horizons = append(x.horizons[:0], hs...)
	if same {
		return
	}
	x.named, x.any, x.classOf = make(map[string]int, len(hs)), -1, nil
	for i, h := range hs {
		if h.Label == property.Any {
			x.any = i
		} else {
			x.named[h.Label] = i
		}
	}
	x.calendar = newCalendar(len(hs), g.dated)
	if len(hs) == 0 {
		return
	}
	for e := range g.View(Old).EdgesSeq() {
		g.enterCalendar(e)
	}
}

// Late tells whether an update has no effect, as it would give an edge a time before the horizon.
func (g *Graph) Late(u *Update) bool {
	x := &g.expiry
	if len(x.horizons) == 0 || u.Op != InsertEdge || !u.Attr.HasTS {
		return false
	}
	class := x.classNamed(u.Label)
	return class >= 0 && u.Attr.TS < x.horizons[class].Before
}

// classNamed returns the class of a label, or -1.
func (x *expiry) classNamed(label string) int {
	if class, ok := x.named[label]; ok {
		return class
	}
	return x.any
}

// class returns the class of a label of a committed edge, or -1.
func (g *Graph) class(l LabelID) int32 {
	x := &g.expiry
	for len(x.classOf) <= int(l) {
		x.classOf = append(x.classOf, int32(x.classNamed(g.labels.names[len(x.classOf)])))
	}
	return x.classOf[l]
}

// expires tells whether an edge of the old graph has expired.
func (g *Graph) expires(e EdgeIndex) bool {
	class, ts, ok := g.dated(e)
	return ok && ts < g.expiry.horizons[class].Before
}

// dated returns the class and the time of an edge; ok is false when it cannot expire, as it has none.
func (g *Graph) dated(e EdgeIndex) (class int, ts int64, ok bool) {
	if len(g.expiry.horizons) == 0 {
		return 0, 0, false
	}
	if ts, ok = g.attr.time(e); !ok {
		return 0, 0, false
	}
	class = int(g.class(g.adj.edges[e].label))
	return class, ts, class >= 0
}

// enterCalendar and leaveCalendar note that an edge has a time, and no longer has.
func (g *Graph) enterCalendar(e EdgeIndex) {
	if class, ts, ok := g.dated(e); ok {
		g.expiry.calendar.enter(class, e, ts)
	}
}

func (g *Graph) leaveCalendar(e EdgeIndex) {
	if class, ts, ok := g.dated(e); ok {
		g.expiry.calendar.leave(class, e, ts)
	}
}

// aged is an edge that has expired, and for how long: its horizon less its time.
type aged struct {
	age  uint64
	edge EdgeIndex
}

// expired lists the edges before the given horizons, which have the labels of SetHorizons, by age, the oldest first;
// of each class not many more than most.
func (g *Graph) expired(hs []Horizon, most int) []aged {
	var list []aged
	for class, h := range hs {
		for _, d := range g.expiry.calendar.due(class, h.Before, most) {
			list = append(list, aged{uint64(h.Before) - uint64(d.ts), d.edge})
		}
	}
	slices.SortFunc(list, func(a, b aged) int {
		return cmp.Or(cmp.Compare(b.age, a.age), g.View(Old).CompareEdges(a.edge, b.edge))
	})
	return list
}

// Expiring tells whether the graph has an edge before a horizon. The labels are those of SetHorizons.
func (g *Graph) Expiring(hs []Horizon) bool { return len(g.expired(hs, 0)) > 0 }

// Approach returns the horizons of the next batch: those of to, or earlier ones, so that at most `most` edges expire,
// and at least those of the greatest age. All horizons stay behind to by the same time, but none falls. to has the
// labels of SetHorizons, and no horizon before the present one.
func (g *Graph) Approach(to []Horizon, most int) []Horizon {
	list := g.expired(to, most)
	behind := uint64(0)
	if len(list) > most {
		behind = list[most].age // it and all of its age stay
		if list[0].age == behind {
			behind--
		}
	}
	hs := slices.Clone(to)
	for i := range hs {
		now := g.expiry.horizons[i].Before
		if gap := uint64(to[i].Before) - uint64(now); behind >= gap {
			hs[i].Before = now
		} else {
			hs[i].Before = int64(uint64(to[i].Before) - behind)
		}
	}
	return hs
}

// collectExpired finds the edges that expire, but for those that the updates concern as well.
func (s *staged) collectExpired(g *Graph) {
	for _, x := range g.expired(g.expiry.horizons, math.MaxInt) {
		if g.order[x.edge] != 0 {
			g.order[x.edge] = 0 // borrowed by outlived
			continue
		}
		e := &g.adj.edges[x.edge]
		it := netItem{attr: none, slot: noSlot, NetEdge: NetEdge{Sign: Deleted, Edge: x.edge, From: e.from, To: e.to,
			Label: e.label, UpdateIndex: AtExpiry}}
		it.Labels = [2]LabelID{g.vlabel[e.from], g.vlabel[e.to]}
		s.items = append(s.items, it)
		s.delta.Expired++
	}
}

// outlived notes that an edge which expires is inserted again, or deleted, by an update. It is in the list of
// collectExpired, which forgets the note.
func (g *Graph) outlived(e EdgeIndex) { g.order[e] = 1 }
