package stream

import (
	"maps"
	"math"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream/eventtime"
)

// TimeStatus is event time after the last batch that was begun; before the first one, that of the checkpoint. Which
// partitions are idle is that of now. Times are in milliseconds since the epoch.
type TimeStatus struct {
	Retention map[string]int64 `json:"retention"` // milliseconds, by label
	// Unseen are the labels of the retention that the graph has never had: perhaps they are misspelt. An empty graph
	// says nothing.
	Unseen    []string         `json:"unseen,omitempty"`
	Watermark *int64           `json:"watermark,omitempty"` // nil: not known yet
	Horizons  map[string]int64 `json:"horizons,omitempty"`  // by label, those before which something may have expired
	// Expired and Late count edges and updates since the start of the process.
	Expired uint64 `json:"expired"`
	Late    uint64 `json:"late"`
	// Partitions are those that are read or were; where one follows the other, as files do, all are 0.
	Partitions map[int32]PartitionTime `json:"partitions,omitempty"`
}

// PartitionTime is the event time of a partition.
type PartitionTime struct {
	State PartitionState `json:"state"`
	// Greatest is the greatest time of its accepted updates, nil if none had any, and Behind how far that is behind the
	// greatest of all partitions.
	Greatest *int64 `json:"greatest,omitempty"`
	Behind   int64  `json:"behind"`
}

// PartitionState says whether a partition counts for the watermark.
type PartitionState string

// The states.
const (
	PartitionCounts   PartitionState = "counts"   // the watermark is not ahead of its times
	PartitionHolds    PartitionState = "holds"    // the watermark waits for its first update
	PartitionIdle     PartitionState = "idle"     // it is read to its end, and nothing came for a while
	PartitionTimeless PartitionState = "timeless" // none of its updates had a time
)

// timeSeen is event time after a batch, of which Status makes a TimeStatus. It does not change.
type timeSeen struct {
	state         *eventtime.State
	arrivals      arrivals
	unseen        []string
	expired, late uint64
}

// noteTime takes over event time for the status, with what a batch did.
func (p *Pipeline) noteTime(sum *matcher.Summary) {
	t := &p.time
	var seen *timeSeen
	if t.state.Active() {
		seen = &timeSeen{state: t.state.Clone(), arrivals: t.arrivals, expired: uint64(sum.Expired),
			late: uint64(sum.Late), unseen: unseen(t.state.Retention, p.opt.Engine.Graph())}
		seen.arrivals.last = maps.Clone(t.arrivals.last)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if old := p.timeSeen; old != nil && seen != nil {
		seen.expired += old.expired
		seen.late += old.late
	}
	p.timeSeen = seen
}

// unseen returns the labels of a retention that a graph has never had.
func unseen(r eventtime.Retention, g *dyngraph.Graph) (labels []string) {
	if g.Edges() == 0 {
		return nil
	}
	for _, k := range r {
		if _, ok := g.LabelID(k.Label); !ok && k.Label != eventtime.Any {
			labels = append(labels, k.Label)
		}
	}
	return labels
}

// status tells of event time; idle is that of the partitions that are read now.
func (x *timeSeen) status(idle map[int32]bool) *TimeStatus {
	t := x.state
	s := &TimeStatus{Retention: t.Retention.ByLabel(), Horizons: knownHorizons(t.Horizons), Unseen: x.unseen,
		Expired: x.expired, Late: x.late, Partitions: make(map[int32]PartitionTime)}
	if t.Watermark.Known {
		s.Watermark = &t.Watermark.TS
	}
	for id := range idle {
		s.Partitions[id] = PartitionTime{State: PartitionHolds}
	}
	greatest, _ := t.Greatest()
	for i := range t.Partitions {
		p := &t.Partitions[i]
		y := PartitionTime{State: PartitionTimeless}
		if p.HasTS {
			// Times may lie further apart than a number of milliseconds says.
			behind := int64(min(uint64(greatest)-uint64(p.Greatest), math.MaxInt64))
			y = PartitionTime{State: PartitionCounts, Greatest: &p.Greatest, Behind: behind}
		}
		s.Partitions[p.ID] = y
	}
	for id, quiet := range idle {
		if y := s.Partitions[id]; quiet {
			y.State = PartitionIdle
			s.Partitions[id] = y
		}
	}
	return s
}

// knownHorizons returns horizons by label, less those before which nothing has expired.
func knownHorizons(hs []dyngraph.Horizon) map[string]int64 {
	m := make(map[string]int64, len(hs))
	for _, h := range hs {
		m[h.Label] = h.Before
	}
	maps.DeleteFunc(m, func(_ string, before int64) bool { return before == math.MinInt64 })
	if len(m) == 0 {
		return nil
	}
	return m
}
