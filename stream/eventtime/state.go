package eventtime

import (
	"cmp"
	"math"
	"slices"

	"motifd/dyngraph"
)

// Any is the label that stands for all labels without a Keep.
const Any = "*"

// Keep says for how long the edges of a label are kept.
type Keep struct {
	Label string `json:"label"`
	For   int64  `json:"for"` // milliseconds of event time, 1 at least
}

// Retention says which edges expire, by label, ascending; a label that neither it nor Any names keeps its edges.
type Retention []Keep

// Of returns the retention of a label.
func (r Retention) Of(label string) (ms int64, ok bool) {
	for _, name := range [2]string{label, Any} {
		if i, ok := slices.BinarySearchFunc(r, name, compareKeep); ok {
			return r[i].For, true
		}
	}
	return 0, false
}

// ByLabel returns the milliseconds by label.
func (r Retention) ByLabel() map[string]int64 {
	m := make(map[string]int64, len(r))
	for _, k := range r {
		m[k.Label] = k.For
	}
	return m
}

func compareKeep(k Keep, label string) int { return cmp.Compare(k.Label, label) }

// Watermark tells how far event time has come. It is zero before anything is known.
type Watermark struct {
	Known bool  `json:"known"`
	TS    int64 `json:"ts"` // milliseconds since the epoch
}

// Partition is the state of a partition of which an update was accepted.
type Partition struct {
	ID       int32 `json:"id"`
	HasTS    bool  `json:"has_ts"`
	Greatest int64 `json:"greatest"` // the greatest time of its accepted updates, if HasTS
}

// Cut has the event time of a batch, beside its horizons. It is fixed before updates are accepted.
type Cut struct {
	Watermark Watermark
	// Retention is set in a batch of its own, which changes it.
	Retention *Retention
}

// State is the state from which watermarks and horizons follow.
type State struct {
	Retention Retention `json:"retention"`
	Watermark Watermark `json:"watermark"` // of the last batch
	// Horizons are those of the last batch, by label, ascending; math.MinInt64 where nothing has expired.
	Horizons   []dyngraph.Horizon `json:"horizons"`
	Partitions []Partition        `json:"partitions"` // ascending
}

// Active tells whether edges expire.
func (s *State) Active() bool { return len(s.Retention) > 0 }

// Clone returns a copy that shares nothing that changes.
func (s *State) Clone() *State {
	c := *s
	c.Horizons, c.Partitions = slices.Clone(s.Horizons), slices.Clone(s.Partitions)
	return &c
}

// Take takes over what a batch says, and the times of its accepted updates for the batches after it. partition says
// which partition an update is of.
func (s *State) Take(c *Cut, horizons []dyngraph.Horizon, updates []dyngraph.Update,
	partition func(*dyngraph.Update) int32) {
	if c == nil {
		return
	}
	s.Watermark, s.Horizons = c.Watermark, horizons
	if c.Retention != nil {
		s.Retention = *c.Retention
	}
	for i := range updates {
		u := &updates[i]
		p := s.partition(partition(u))
		if u.Attr.HasTS && (!p.HasTS || p.Greatest < u.Attr.TS) {
			p.HasTS, p.Greatest = true, u.Attr.TS
		}
	}
}

func (s *State) partition(id int32) *Partition {
	i, ok := s.find(id)
	if !ok {
		s.Partitions = slices.Insert(s.Partitions, i, Partition{ID: id})
	}
	return &s.Partitions[i]
}

func (s *State) find(id int32) (int, bool) {
	return slices.BinarySearchFunc(s.Partitions, id, func(p Partition, id int32) int { return cmp.Compare(p.ID, id) })
}

// Next returns the watermark of the next batch. reading names the partitions that are read, each with true if it is
// idle: its end is reached, and nothing came for a while. A partition that is not idle holds the watermark back until
// an update of it was accepted, and counts if one had a time.
func (s *State) Next(reading map[int32]bool, lateness int64) Watermark {
	least, counts := int64(math.MaxInt64), false
	for id, idle := range reading {
		if idle {
			continue
		}
		i, ok := s.find(id)
		if !ok {
			return s.Watermark
		}
		if p := &s.Partitions[i]; p.HasTS {
			least, counts = min(least, p.Greatest), true
		}
	}
	if !counts {
		least, counts = s.Greatest()
	}
	if w := less(least, lateness); counts && (!s.Watermark.Known || w > s.Watermark.TS) {
		return Watermark{true, w}
	}
	return s.Watermark
}

// Greatest returns the greatest time of all partitions, if any has one.
func (s *State) Greatest() (ts int64, ok bool) {
	ts = math.MinInt64
	for i := range s.Partitions {
		if p := &s.Partitions[i]; p.HasTS {
			ts, ok = max(ts, p.Greatest), true
		}
	}
	return ts, ok
}

// Reach returns the horizons that a watermark allows, none of which lies before the present one.
func (s *State) Reach(w Watermark) []dyngraph.Horizon {
	to := slices.Clone(s.Horizons)
	if !w.Known {
		return to
	}
	for i := range to {
		if keep, ok := s.Retention.Of(to[i].Label); ok {
			to[i].Before = max(to[i].Before, less(w.TS, keep))
		}
	}
	return to
}

// less returns a-b, or the least number there is.
func less(a, b int64) int64 {
	if a < math.MinInt64+b {
		return math.MinInt64
	}
	return a - b
}

// Change returns the cut and the horizons of a batch that changes the retention. No label's horizon falls.
func (s *State) Change(r Retention) (*Cut, []dyngraph.Horizon) {
	var hs []dyngraph.Horizon
	for _, k := range r {
		hs = append(hs, dyngraph.Horizon{Label: k.Label, Before: s.before(k.Label)})
	}
	any := slices.IndexFunc(hs, func(h dyngraph.Horizon) bool { return h.Label == Any })
	for _, h := range s.Horizons {
		// A label that is no longer named has the retention of the others from now on, but its own horizon.
		named := slices.ContainsFunc(hs, func(x dyngraph.Horizon) bool { return x.Label == h.Label })
		if !named && any >= 0 && h.Before != hs[any].Before {
			hs = append(hs, h)
		}
	}
	slices.SortFunc(hs, func(a, b dyngraph.Horizon) int { return cmp.Compare(a.Label, b.Label) })
	return &Cut{Watermark: s.Watermark, Retention: &r}, hs
}

// before returns the present horizon of a label.
func (s *State) before(label string) int64 {
	at := int64(math.MinInt64)
	for _, h := range s.Horizons {
		if h.Label == label {
			return h.Before
		}
		if h.Label == Any {
			at = h.Before
		}
	}
	return at
}
