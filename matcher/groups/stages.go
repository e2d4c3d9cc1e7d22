package groups

import (
	"encoding/binary"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher/condition"
)

// stages counts the groups of the keys of all stages in a view. A stage is evaluated for the keys alone, whatever the
// others decide (DESIGN S24); aggregates of a group that is not there are null.
func (b *batch) stages(which dyngraph.Which, keys []uint32) (whole group, each []group, err error) {
	var values []condition.Wide
	var lists [][]uint32
	for _, c := range b.counts {
		g, err := c.groupOf(which, b.x, keys)
		if err != nil {
			return whole, nil, err
		}
		each = append(each, g)
		if g.values == nil {
			g.values = make([]condition.Wide, len(c.x.stage.Aggregates))
		}
		if g.lists == nil {
			g.lists = make([][]uint32, len(c.x.stage.Aggregates))
		}
		values, lists = append(values, g.values...), append(lists, g.lists...)
	}
	whole.holds = true
	for i, c := range b.counts {
		each[i].holds = each[i].rows > 0 && c.x.having(c.views[which].view, b.x.project(keys, c.x), values)
		whole.holds = whole.holds && each[i].holds
		whole.rows += each[i].rows
	}
	whole.values, whole.lists = values, lists
	return whole, each, nil
}

// project returns the keys of another program's stage: its vertices and its edges are the first ones.
func (x *program) project(keys []uint32, to *program) []uint32 {
	v, e := len(to.stage.Vertices), len(to.stage.Edges)
	n := len(x.stage.Vertices)
	if v == n && e == len(x.stage.Edges) {
		return keys
	}
	return slices.Concat(keys[:v], keys[n:][:e])
}

// groupOf counts the group of a stage that keys of another program belong to. Where a later stage has further keys,
// many of these belong to one group, which is counted once.
func (b *batch) groupOf(which dyngraph.Which, of *program, keys []uint32) (group, error) {
	own := of.project(keys, b.x)
	if len(own) == len(keys) {
		return b.group(which, own)
	}
	var room [16]byte
	text := append(room[:0], byte(which))
	for _, k := range own {
		text = binary.LittleEndian.AppendUint32(text, k)
	}
	if g, ok := b.counted[string(text)]; ok {
		return g, nil
	}
	g, err := b.group(which, own)
	if err == nil {
		if b.counted == nil {
			b.counted = make(map[string]group)
		}
		b.counted[string(text)] = g
	}
	return g, err
}

// compareStages notes a match that holds in one view only, or shows another value. A match that begins or ends is
// anchored at the changes of the stages that turned, and of those that they read; a change is one of any stage.
func (b *batch) compareStages(o *outcome, keys []uint32) error {
	before, old, err := b.stages(dyngraph.Old, keys)
	if err != nil {
		return err
	}
	after, now, err := b.stages(dyngraph.New, keys)
	if err != nil || before.holds == after.holds && (!before.holds || !b.x.query.EmitsChanges()) {
		return err
	}
	turned := make([]bool, len(b.counts))
	for i := range b.counts {
		turned[i] = old[i].holds != now[i].holds || before.holds && after.holds
	}
	for i := len(b.counts) - 1; i >= 0; i-- { // a stage reads earlier ones
		if !turned[i] {
			continue
		}
		for _, c := range b.counts[i].x.stage.Having {
			for _, r := range c.Elements {
				if r.Aggregate {
					turned[b.stageOf(r.Index)] = true
				}
			}
		}
	}
	for i := range turned {
		if turned[i] {
			before.join(&old[i])
			after.join(&now[i])
		}
	}
	return b.compare(o, keys, &before, &after)
}

// join notes the changes of another group.
func (g *group) join(other *group) {
	if other.changed {
		g.note(other.least)
		g.note(other.most)
	}
}

// stageOf returns the stage of an aggregate.
func (b *batch) stageOf(aggregate int) (at int) {
	for i, c := range b.counts {
		if c.x.first <= aggregate {
			at = i
		}
	}
	return at
}
