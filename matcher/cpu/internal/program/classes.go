package program

import (
	"fmt"
	"slices"

	"motifd/matcher"
	"motifd/matcher/internal/candidates"
)

// CompileRows compiles the anchored orders of a plan for a search for rows, by anchored order. Of each coalesced class
// (DESIGN A6) the first member's order stands for all, and the others are nil; with apart no orders are coalesced.
func CompileRows(p *matcher.Plan, f candidates.Source, keys *ListKeys, apart bool) []*Order {
	rows := compileRows(p, f, keys, apart, false)
	if p.Query.ReadsVertices() {
		for i, o := range compileRows(p, f, keys, apart, true) {
			if o != nil {
				rows[i].Revising = o
			}
		}
	}
	return rows
}

// CompileRowsOf is CompileRows for the order of one anchor, which stands for its class. Where it is searched by itself,
// and is no other anchored order seen through an automorphism, order orders it anew.
func CompileRowsOf(p *matcher.Plan, f candidates.Source, keys *ListKeys, anchor int,
	order func(*matcher.Order) matcher.Order) *Order {
	of := *p
	of.Classes, of.Alike = nil, nil
	for _, m := range p.Alike {
		if m.Anchor == anchor {
			of.Alike = append(of.Alike, m)
		}
	}
	for _, c := range p.Classes {
		if c.Members[0].Anchor != anchor {
			continue
		}
		if m := c.Members[0]; len(c.Members) == 1 && len(m.Images) == 0 {
			m.Order = order(&m.Order)
			c.Members = []matcher.Member{m}
		}
		of.Classes = append(of.Classes, c)
	}
	return CompileRows(&of, f, keys, false)[anchor]
}

// compileRows is CompileRows for batches that revise vertices, or for others.
func compileRows(p *matcher.Plan, f candidates.Source, keys *ListKeys, apart, revises bool) []*Order {
	rows := make([]*Order, len(p.Anchored))
	symmetric := p.Query.Unit == matcher.Subgraphs
	if apart {
		for i := range rows {
			rows[i] = compile(p, &matcher.Member{Order: p.Anchored[i]}, f, keys, symmetric, revises)
			rows[i].finish(keys)
		}
		return rows
	}
	if p.Alike != nil {
		for i := range p.Alike {
			o := compile(p, &p.Alike[i], f, keys, symmetric, revises)
			o.finish(keys)
			rows[p.Alike[i].Anchor] = o
		}
		return rows
	}
	for i := range p.Classes {
		c := &p.Classes[i]
		var members []*Order
		for k := range c.Members {
			m := &c.Members[k]
			o := compile(p, m, f, keys, symmetric, revises)
			o.finish(keys)
			members = append(members, o)
		}
		if len(members) > 1 {
			rows[c.Members[0].Anchor] = mergeClass(p, c, members, f, keys)
		} else {
			rows[c.Members[0].Anchor] = members[0]
		}
	}
	return rows
}

// imageColumns returns the Form.Columns of an image.
func (o *Order) imageColumns(image matcher.Image) []int {
	columns := make([]int, o.Width())
	n := len(image.Vertices)
	for v, w := range image.Vertices {
		columns[w] = v
	}
	for e, f := range image.Edges {
		columns[n+f] = n + e
	}
	return columns
}

// mergeClass returns the order of the steps that the members of a class share. A candidate passes if it passes the test
// of any member; the search keeps track of the members that are still possible.
func mergeClass(p *matcher.Plan, c *matcher.Class, members []*Order, f candidates.Source, keys *ListKeys) *Order {
	o := &Order{Plan: p, Anchor: members[0].Anchor, AnchorTest: members[0].AnchorTest,
		Steps: slices.Clone(members[0].Steps[:c.Shared]), Members: members}
	for i := range o.Steps {
		s := &o.Steps[i]
		s.Tested, s.MapsFirst, s.Prior = false, false, 0 // members test their own
		var classes []int
		for k := range c.Members {
			v := c.Members[k].Order.Steps[i].Vertex
			classes = append(classes, f.Class(p, v))
			if t := f.Test(p, v); t != s.Test && !slices.Contains(s.OrTests, t) {
				s.OrTests = append(s.OrTests, t)
			}
		}
		slices.Sort(classes)
		classes = slices.Compact(classes)
		s.Back = slices.Clone(s.Back)
		for k := range s.Back {
			b := &s.Back[k]
			key := ListKey{Dir: b.Dir, Label: b.Label, Class: classes[0], Test: b.Test.Key()}
			if len(classes) > 1 {
				key.Others = fmt.Sprint(classes[1:])
			}
			b.ListKey, b.Epoch = keys.Number(key, p.VertexLabels[o.Steps[b.Step].Vertex], b.NeighborLabel, classes...)
		}
	}
	o.SharedColumns, o.Slots = o.sharedColumns(c.Shared), c.Shared
	for _, m := range members {
		m.SharedColumns = m.sharedColumns(c.Shared)
		for i := c.Shared; i < len(m.Steps); i++ {
			m.Steps[i].Slot = o.Slots
			o.Slots++
		}
	}
	for _, m := range members { // a search that resumes a member's part has the frames of the whole class
		m.Slots = o.Slots
	}
	return o
}

// sharedColumns returns the row columns that the first n steps fill, in the order of the steps.
func (o *Order) sharedColumns(n int) (columns []int) {
	edges := len(o.Plan.Query.Vertices)
	columns = append(columns, edges+o.Anchor)
	for i := range o.Steps[:n] {
		s := &o.Steps[i]
		columns = append(columns, s.Vertex)
		for k := range s.Back {
			columns = append(columns, edges+s.Back[k].Edge)
		}
	}
	return columns
}
