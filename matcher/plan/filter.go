package plan

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// Filter keeps, for every data vertex, exact counts of its adjacency in the columns that registered queries need,
// and one candidate bit per class (GAMMA section IV-B; DESIGN A5). Counts are exact, not saturated, because a saturated
// count cannot be decremented. While a batch is staged a bit is the old one OR the new one, so that it holds for
// the searches of both phases.
//
// A Filter has one owner; between Stage and Commit or Abort any number of goroutines may call Candidate.
type Filter struct {
	g        *dyngraph.Graph
	columns  []Column
	colIndex map[Column]int
	classes  []Class
	clsCols  [][]int // column of each need of each class
	clsIndex map[string]int

	generation int // changes when classes are numbered anew
	words      int // of candidate bits per vertex
	counts     []uint32
	bits       []uint64
	byKind     map[Column][]int // adjacency kind -> columns that it counts in

	delta   *dyngraph.Delta
	saved   []uint64 // bits of delta.Touched before the batch
	changed []dyngraph.VertexID
}

// NewFilter returns a filter over g without classes. Nothing is counted before Prepare.
func NewFilter(g *dyngraph.Graph) *Filter {
	f := &Filter{g: g}
	f.reset()
	return f
}

func (f *Filter) reset() {
	f.columns, f.classes, f.clsCols = nil, nil, nil
	f.colIndex, f.clsIndex = map[Column]int{}, map[string]int{}
	f.byKind = map[Column][]int{}
	f.words, f.counts, f.bits = 0, nil, nil
}

// Prepare makes the filter serve the plans. It counts in the old view, so a staged batch must be handed to Stage
// afterwards. What present classes have counted is kept while it is needed; otherwise the graph is read once.
func (f *Filter) Prepare(plans []*matcher.Plan) {
	needCols, needCls := map[Column]bool{}, map[string]Class{}
	var order []string
	for _, p := range plans {
		for v := range p.Query.Vertices {
			c := Requirement(p, v)
			k := c.key()
			if _, ok := needCls[k]; !ok {
				needCls[k] = c
				order = append(order, k)
			}
			for _, n := range c.Needs {
				needCols[n.Column] = true
			}
		}
	}
	fresh := len(f.classes) > 2*len(needCls)+64 // mostly classes of removed queries: start over
	missing := false
	for c := range needCols {
		if _, ok := f.colIndex[c]; !ok {
			missing = true
		}
	}
	for k := range needCls {
		if _, ok := f.clsIndex[k]; !ok {
			missing = true
		}
	}
	if !missing && !fresh {
		return
	}
	if fresh {
		f.reset()
		f.generation++
	}
	oldCols, oldCls := len(f.columns), len(f.classes)
	for _, k := range order {
		if _, ok := f.clsIndex[k]; ok {
			continue
		}
		c := needCls[k]
		cols := make([]int, len(c.Needs))
		for i, n := range c.Needs {
			at, ok := f.colIndex[n.Column]
			if !ok {
				at = len(f.columns)
				f.columns = append(f.columns, n.Column)
				f.colIndex[n.Column] = at
			}
			cols[i] = at
		}
		f.clsIndex[k] = len(f.classes)
		f.classes = append(f.classes, c)
		f.clsCols = append(f.clsCols, cols)
	}
	f.byKind = map[Column][]int{}
	f.widen(oldCols)
	if oldCols < len(f.columns) {
		f.countAll(oldCols)
	}
	oldWords, oldBits := f.words, f.bits
	f.words = (len(f.classes) + 63) / 64
	f.bits = make([]uint64, int(f.g.IDBound())*f.words)
	for v := 0; oldWords > 0 && v < min(int(f.g.IDBound()), len(oldBits)/oldWords); v++ {
		copy(f.bits[v*f.words:], oldBits[v*oldWords:(v+1)*oldWords])
	}
	view := f.g.View(dyngraph.Old)
	for v := range view.VerticesSeq() {
		f.encode(v, oldCls)
	}
}

// widen lays the counts out anew for more columns and the graph's present ids.
func (f *Filter) widen(oldCols int) {
	n, w := int(f.g.IDBound()), len(f.columns)
	counts := make([]uint32, n*w)
	if oldCols > 0 {
		for v := 0; v < min(n, len(f.counts)/oldCols); v++ {
			copy(counts[v*w:], f.counts[v*oldCols:(v+1)*oldCols])
		}
	}
	f.counts = counts
}

// countAll counts columns from first on in the old view.
func (f *Filter) countAll(first int) {
	view := f.g.View(dyngraph.Old)
	w := len(f.columns)
	for e := range view.EdgesSeq() {
		from, to, label := view.Edge(e)
		for _, c := range f.kinds(view, from, to, label, dyngraph.Out) {
			if c >= first {
				f.counts[int(from)*w+c]++
			}
		}
		for _, c := range f.kinds(view, to, from, label, dyngraph.In) {
			if c >= first {
				f.counts[int(to)*w+c]++
			}
		}
	}
}

// kinds returns the columns in which vertex v counts an edge to nbr seen from side d.
func (f *Filter) kinds(view dyngraph.View, _, nbr dyngraph.VertexID, label dyngraph.LabelID, d dyngraph.Dir) []int {
	if !f.g.Directed() {
		d = dyngraph.Out
	}
	k := Column{Dir: d, Edge: label, Nbr: view.Label(nbr)}
	cols, ok := f.byKind[k]
	if !ok {
		for i, c := range f.columns {
			if (c.Both || c.Dir == d) && Fits(c.Edge, k.Edge) && Fits(c.Nbr, k.Nbr) {
				cols = append(cols, i)
			}
		}
		f.byKind[k] = cols
	}
	return cols
}

// encode adds to v's candidate bits those that its counts allow, for the classes from first on.
func (f *Filter) encode(v dyngraph.VertexID, first int) {
	w := len(f.columns)
	counts := f.counts[int(v)*w : int(v)*w+w]
	bits := f.bits[int(v)*f.words : (int(v)+1)*f.words]
	label := f.g.View(dyngraph.New).Label(v)
next:
	for i := first; i < len(f.classes); i++ {
		c := &f.classes[i]
		if !Fits(c.Label, label) {
			continue
		}
		cols := f.clsCols[i]
		for j := range c.Needs {
			if counts[cols[j]] < c.Needs[j].Count {
				continue next
			}
		}
		bits[i>>6] |= 1 << (i & 63)
	}
}

// Stage counts the net edges of a staged batch and widens the bits of touched vertices to old OR new.
func (f *Filter) Stage(d *dyngraph.Delta) {
	f.delta = d
	f.grow()
	f.count(d, 1)
	f.saved, f.changed = f.saved[:0], f.changed[:0]
	for _, v := range d.Touched {
		bits := f.bits[int(v)*f.words : (int(v)+1)*f.words]
		f.saved = append(f.saved, bits...)
		f.encode(v, 0)
		if !slices.Equal(bits, f.saved[len(f.saved)-f.words:]) {
			f.changed = append(f.changed, v)
		}
	}
}

func (f *Filter) grow() {
	n := int(f.g.IDBound())
	if need := n * len(f.columns); need > len(f.counts) {
		f.counts = append(f.counts, make([]uint32, need-len(f.counts))...)
	}
	if need := n * f.words; need > len(f.bits) {
		f.bits = append(f.bits, make([]uint64, need-len(f.bits))...)
	}
}

// count adds the net edges' counts times their sign times by.
func (f *Filter) count(d *dyngraph.Delta, by int32) {
	view := f.g.View(dyngraph.New)
	w := len(f.columns)
	for i := range d.Net {
		n := &d.Net[i]
		step := uint32(int32(n.Sign) * by)
		for _, c := range f.kinds(view, n.From, n.To, n.Label, dyngraph.Out) {
			f.counts[int(n.From)*w+c] += step
		}
		for _, c := range f.kinds(view, n.To, n.From, n.Label, dyngraph.In) {
			f.counts[int(n.To)*w+c] += step
		}
	}
}

// Commit makes the new graph's bits the present ones. A freed vertex has no edges and fits no class with needs;
// every class has one, as patterns are connected.
func (f *Filter) Commit() {
	if f.delta == nil {
		return
	}
	f.changed = f.changed[:0]
	f.saved = append(f.saved[:0], make([]uint64, f.words)...)
	for _, v := range f.delta.Touched {
		bits := f.bits[int(v)*f.words : (int(v)+1)*f.words]
		copy(f.saved, bits)
		clear(bits)
		f.encode(v, 0)
		if !slices.Equal(bits, f.saved) {
			f.changed = append(f.changed, v)
		}
	}
	f.delta = nil
}

// Abort restores the old graph's counts and bits.
func (f *Filter) Abort() {
	if f.delta == nil {
		return
	}
	f.count(f.delta, -1)
	// Stage's list of changed vertices holds: their bits change back.
	for i, v := range f.delta.Touched {
		copy(f.bits[int(v)*f.words:(int(v)+1)*f.words], f.saved[i*f.words:])
	}
	f.delta = nil
}

// Class returns the number of the class of pattern vertex v. The plan must have been given to Prepare.
func (f *Filter) Class(p *matcher.Plan, v int) int {
	return f.clsIndex[Requirement(p, v).key()]
}

// Changed returns the vertices whose bits the last Stage, Commit or Abort changed, until the next.
func (f *Filter) Changed() []dyngraph.VertexID { return f.changed }

// Generation changes when Prepare numbers the classes anew; until then a class keeps its number.
func (f *Filter) Generation() int { return f.generation }

// Bits returns the candidate bits, Words words per vertex, valid until the next Prepare or Stage.
func (f *Filter) Bits() []uint64 { return f.bits }

// Words returns the number of words of candidate bits per vertex.
func (f *Filter) Words() int { return f.words }
