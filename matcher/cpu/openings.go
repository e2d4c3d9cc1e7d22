package cpu

import (
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/program"
)

// fitting is an oriented pattern edge in the index of anchors, with the candidate bits that its ends must have:
// whether a net edge that has its labels is worth more is seen without a look at the plan.
type fitting struct {
	c        *compiled
	o        *program.Order // of rows; may be nil
	from, to uint32         // word and bit: the labels are known to be the right ones
	third    program.StepKey
	how      fittingHow
	hasViews bool // counts are kept from batch to batch, or were once: labels suffice
}

type fittingHow uint8

const (
	byBits  fittingHow = iota
	bySteps            // some of several bits will do
	never              // another order's rows have it, or nothing fits
	byGroup            // counted without enumeration: from groups of net edges, not one by one
)

func newFitting(c *compiled, order int) fitting {
	q, o := c.plan.Query, c.rows[order]
	f := fitting{c: c, o: o, third: o.ThirdKey()}
	if q.Emit == matcher.EmitCounts {
		o = c.count[order]
	}
	switch {
	case c.summed():
		f.how, f.hasViews = byGroup, c.views != nil
		f.from, f.to = bitOf(&o.Steps[0]), bitOf(&o.Steps[1])
	case o == nil:
		f.how = never
	case len(o.Steps[0].OrTests)+len(o.Steps[1].OrTests) > 0:
		f.how = bySteps
	default:
		f.from, f.to = bitOf(&o.Steps[0]), bitOf(&o.Steps[1])
		if f.from == noBit || f.to == noBit {
			f.how = never
		}
	}
	return f
}

// noBit stands for a test that nothing passes.
const noBit = ^uint32(0)

func bitOf(s *program.Step) uint32 {
	if bit, some := s.Test.Bit(); some {
		return bit
	}
	return noBit
}

// has tells whether a vertex with these candidate bits has one.
func has(bits []uint64, bit uint32) bool { return bits[bit>>6]>>(bit&63)&1 != 0 }

// openings are the oriented pattern edges of all plans that the net edges of a batch open: that have their labels
// and, where that is worth a look, candidates at both ends. They are found once a batch.
type openings struct {
	batch uint64 // Backend.phase of it
	list  []opening
	end   []uint32 // by net edge: where its own end in the list
	fits  [openedTogether]*matcher.Fits[fitting]
	read  uint64 // what is read ahead comes together here, so that it is read
}

type opening struct {
	c     *compiled
	o     *program.Order
	third program.StepKey
}

// admits tells whether the ends of a net edge are candidates for the first two steps of an order of rows, which may
// be nil.
func (b *Backend) admits(o *program.Order, n *dyngraph.NetEdge) bool {
	bits, words := b.filter.Bits(), b.filter.Words()
	return o != nil && o.Steps[0].Passes(bits[int(n.From)*words:]) && o.Steps[1].Passes(bits[int(n.To)*words:])
}

// of returns those of net edge i.
func (o *openings) of(i int) []opening {
	from := uint32(0)
	if i > 0 {
		from = o.end[i-1]
	}
	return o.list[from:o.end[i]]
}

// openings returns those of the staged batch.
func (b *Backend) openings() *openings {
	open := &b.open
	if open.batch == b.phase {
		return open
	}
	open.batch = b.phase
	open.list, open.end = open.list[:0], open.end[:0]
	if cap(open.list) > maxStarts {
		open.list = nil
	}
	for nets := b.delta.Net; len(nets) > 0; {
		n := min(openedTogether, len(nets))
		b.openAhead(nets[:n])
		for i := range nets[:n] {
			b.openNet(&nets[i], open.fits[i])
		}
		nets = nets[n:]
	}
	return open
}

// openAhead finds what net edges fit by their labels, and reads it and the bits of their ends ahead: where many
// patterns are registered, most of what opening one costs is to wait for these.
func (b *Backend) openAhead(nets []dyngraph.NetEdge) {
	open, view, read := &b.open, b.g.View(dyngraph.New), uint64(0)
	bits, words := b.filter.Bits(), b.filter.Words()
	for i := range nets {
		n := &nets[i]
		open.fits[i] = b.anchors.Of(view.Label(n.From), n.Label, view.Label(n.To))
		read += bits[int(n.From)*words] + bits[int(n.To)*words]
	}
	for _, f := range open.fits[:len(nets)] {
		if len(f.List) > 0 {
			read += uint64(f.List[0].Of.from)
		}
	}
	open.read += read
}

// openedTogether is the number of net edges that openAhead reads together.
const openedTogether = 64

// openNet adds what a net edge opens of that which it fits.
func (b *Backend) openNet(n *dyngraph.NetEdge, fit *matcher.Fits[fitting]) {
	open, bits, words := &b.open, b.filter.Bits(), b.filter.Words()
	from, to := bits[int(n.From)*words:], bits[int(n.To)*words:]
	for k := range fit.List {
		f := &fit.List[k].Of
		switch f.how {
		case byBits:
			if !has(from, f.from) || !has(to, f.to) || *f.c.missing > 0 {
				continue
			}
		case bySteps:
			if *f.c.missing > 0 || !b.admits(f.o, n) {
				continue
			}
		case never, byGroup:
			continue
		}
		open.list = append(open.list, opening{f.c, f.o, f.third})
	}
	open.end = append(open.end, uint32(len(open.list)))
}

// Concern tells which plans a staged batch concerns; see matcher.Capabilities.
func (b *Backend) Concern(note func(plan int, sign dyngraph.Sign)) {
	noteOnce := func(c *compiled, sign dyngraph.Sign) {
		if noted := &c.noted[program.SignIndex(sign)]; *noted != b.phase {
			*noted = b.phase
			note(c.at, sign)
		}
	}
	if b.summed > 0 {
		b.concernGroups(noteOnce)
	}
	if b.summed == len(b.plans) {
		return
	}
	open := b.openings()
	for i := range b.delta.Net {
		for _, o := range open.of(i) {
			noteOnce(o.c, b.delta.Net[i].Sign)
		}
	}
}

// concernGroups notes the plans that are counted without enumeration: one look at the labels of each group, and then
// at net edges until there is one whose ends are candidates. Where counts are kept from batch to batch, labels
// suffice.
func (b *Backend) concernGroups(note func(c *compiled, sign dyngraph.Sign)) {
	b.groupNetEdges()
	for _, g := range b.nets.Touched {
		fits := b.anchors.Of(g.From, g.Edge, g.To).List
		many := len(fits) > manyFits
		for k := range fits {
			f := &fits[k].Of
			if f.how != byGroup || many && !f.hasViews && !b.anyFits(f, g.Pairs[0]) && !b.anyFits(f, g.Pairs[1]) ||
				f.c.views == nil && *f.c.missing > 0 {
				continue
			}
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				s := program.SignIndex(sign)
				if f.c.noted[s] != b.phase && (f.c.views != nil && len(g.Pairs[s]) > 0 || b.anyFits(f, g.Pairs[s])) {
					note(f.c, sign)
				}
			}
		}
	}
}

// manyFits is of how many plans that net edges fit by their labels the candidate bits are looked at before the plans,
// which are in no cache then.
const manyFits = 16

// anyFits tells whether the ends of some net edge have the candidate bits.
func (b *Backend) anyFits(f *fitting, pairs []program.NetPair) bool {
	if f.from == noBit || f.to == noBit {
		return false
	}
	bits, words := b.filter.Bits(), b.filter.Words()
	for _, p := range pairs {
		if has(bits[int(p.From)*words:], f.from) && has(bits[int(p.To)*words:], f.to) {
			return true
		}
	}
	return false
}
