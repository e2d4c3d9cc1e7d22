package condition

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"sort"
	"strings"

	"motifd/dyngraph/property"
)

// Conditions may contradict one another though each can hold: x > 9 AND x < 5. contradict finds this in three ways: no
// value that one condition names for a property (=, IN, IS NULL) meets the others on that property; comparisons put a
// value before itself, constants in between; bounds of differences of whole numbers form a cycle with a negative sum (a
// difference-bound matrix; Dill 1989). Reported conditions never hold together. It does not find every contradiction:
// AND with inner ORs is not multiplied out.

// contradict reports whether the conditions cannot all be true.
func contradict(terms []*term) bool {
	all := make([]*term, 0, len(terms))
	for _, t := range terms {
		if !t.aggregated() || !t.computes() { // behind WITH results may have more than 64 bits
			all = append(all, t.positive())
		}
	}
	return noValue(all) || beforeItself(all) || negativeCycle(all)
}

// maxNamed is the number of conditions that a message about a contradiction names.
const maxNamed = 4

// explainContradiction returns the first of contradicting conditions that contradicts those before it, and says which
// of these.
func explainContradiction(terms []*term, name func(Slot) string) (last *term, why string) {
	var core []*term
	for len(core) < maxNamed && !contradict(core) {
		n := sort.Search(len(terms), func(n int) bool { return contradict(append(slices.Clone(core), terms[:n]...)) })
		core = append(core, terms[n-1])
		terms = terms[:n-1]
	}
	if len(core) == 1 {
		return core[0], "no value meets it"
	}
	var texts []string
	for _, t := range core[1:] {
		texts = append(texts, t.text(name))
	}
	slices.Reverse(texts)
	if why = "it contradicts " + strings.Join(texts, " AND "); !contradict(core) {
		why += " and others"
	}
	return core[0], why
}

// positive returns a comparison that is true where the negation of another one is; other terms as they are.
func (t *term) positive() *term {
	if t.code == not && t.args[0].code == compare {
		p := *t.args[0]
		p.relation = p.relation.negation()
		return &p
	}
	return t
}

// noValue reports whether none of the values that a condition names for a property meets the other conditions on that
// property alone.
func noValue(terms []*term) bool {
	alone := map[Slot][]*Condition{}
	null := map[Slot]bool{}
	for _, t := range terms {
		c := &Condition{root: t}
		c.compile(t)
		if len(c.Slots) == 1 {
			alone[c.Slots[0]] = append(alone[c.Slots[0]], c)
		}
		if t.code == isNull && t.args[0].code == read {
			null[t.args[0].slot] = true
		}
	}
	for slot, all := range alone {
		for _, c := range all {
			named, ok := c.root.named()
			if ok && !slices.ContainsFunc(named, func(v property.Value) bool { return meetsAll(all, slot, v) }) {
				return true
			}
		}
	}
	return len(null) > 0 && slices.ContainsFunc(terms, func(t *term) bool { return t.needsOne(null) })
}

// named returns the values that a condition allows for a property, where these are few.
func (t *term) named() ([]property.Value, bool) {
	if t.code == not && t.args[0].code == isTrue && t.args[0].args[0].code == read {
		return []property.Value{property.Truth(false)}, true
	}
	if len(t.args) == 0 || t.args[0].code != read {
		return nil, false
	}
	switch t.code {
	case in:
		return t.members.values, true
	case isNull:
		return []property.Value{{}}, true
	case isTrue:
		return []property.Value{property.Truth(true)}, true
	case compare:
		if t.relation == Eq && t.args[1].isConstant() {
			return []property.Value{t.args[1].value}, true
		}
	}
	return nil, false
}

// meetsAll reports whether a value of a property may meet all of some conditions on it.
func meetsAll(all []*Condition, slot Slot, v property.Value) bool {
	for _, c := range all {
		if c.root.computes() && !v.IsNull() && v.Type() != slot.Type {
			continue // its arithmetic has the property's type
		}
		if c.Eval([]property.Value{v}) != True {
			return false
		}
	}
	return true
}

// computes reports whether a term contains arithmetic.
func (t *term) computes() bool {
	return t.code >= neg && t.code <= mul || slices.ContainsFunc(t.args, (*term).computes)
}

// needsOne reports whether a condition is unknown where one of some properties is null.
func (t *term) needsOne(null map[Slot]bool) (needs bool) {
	if t.code == not {
		t = t.args[0]
	}
	switch t.code {
	case compare, in, startsWith, isTrue:
		t.slots(func(s Slot) { needs = needs || null[s] })
	}
	return needs
}

// ordering is a graph of properties and constants: an edge leads from a node to one that is not before it.
type ordering struct {
	slots     map[Slot]int
	constants []property.Value // sorted by type and value, once each; nodes 0 and up
	edges     [][]orderEdge
	distinct  [][2]int
}

type orderEdge struct {
	to     int
	strict bool // it is behind the beginning
}

// beforeItself reports whether comparisons put a value before itself.
func beforeItself(terms []*term) bool {
	o := newOrdering(terms)
	for _, t := range terms {
		o.add(t)
	}
	for from, edges := range o.edges {
		for _, e := range edges {
			if e.strict && o.leads(e.to, from) {
				return true
			}
		}
	}
	return slices.ContainsFunc(o.distinct, func(d [2]int) bool { return o.leads(d[0], d[1]) && o.leads(d[1], d[0]) })
}

// newOrdering returns an ordering of the constants of some terms.
func newOrdering(terms []*term) *ordering {
	o := &ordering{slots: map[Slot]int{}}
	for _, t := range terms {
		for _, b := range t.comparisons() {
			for _, side := range b.args {
				if side.isConstant() {
					o.constants = append(o.constants, side.value)
				}
			}
		}
	}
	slices.SortFunc(o.constants, compareConstants)
	o.constants = slices.CompactFunc(o.constants, func(a, b property.Value) bool { return compareConstants(a, b) == 0 })
	o.edges = make([][]orderEdge, len(o.constants))
	for i := 1; i < len(o.constants); i++ {
		if _, ok := property.Compare(o.constants[i-1], o.constants[i]); ok {
			o.edges[i-1] = append(o.edges[i-1], orderEdge{i, true})
		}
	}
	return o
}

// compareConstants orders constants of all types: numbers by value, others first by their kind.
func compareConstants(a, b property.Value) int {
	if order, ok := property.Compare(a, b); ok {
		return order
	}
	kind := func(v property.Value) property.Kind {
		if v.Type().Numeric() {
			return property.Int64
		}
		return v.Type().Kind
	}
	return cmp.Compare(kind(a), kind(b))
}

// node returns the number of an operand; false if it is computed.
func (o *ordering) node(t *term) (int, bool) {
	switch t.code {
	case constant:
		return slices.BinarySearchFunc(o.constants, t.value, compareConstants)
	case read:
		at, ok := o.slots[t.slot]
		if !ok {
			at = len(o.edges)
			o.slots[t.slot], o.edges = at, append(o.edges, nil)
		}
		return at, true
	}
	return 0, false
}

// add adds the edges that follow from a condition.
func (o *ordering) add(t *term) {
	for _, c := range t.comparisons() {
		a, ok := o.node(c.args[0])
		b, also := o.node(c.args[1])
		if !ok || !also {
			continue
		}
		switch c.relation {
		case Ne:
			o.distinct = append(o.distinct, [2]int{a, b})
		case Eq:
			o.edges[a] = append(o.edges[a], orderEdge{b, false})
			o.edges[b] = append(o.edges[b], orderEdge{a, false})
		case Lt, Le:
			o.edges[a] = append(o.edges[a], orderEdge{b, c.relation == Lt})
		default:
			o.edges[b] = append(o.edges[b], orderEdge{a, c.relation == Gt})
		}
	}
}

// leads reports whether edges lead from one node to another, or whether they are the same.
func (o *ordering) leads(from, to int) bool {
	seen, rest := make([]bool, len(o.edges)), []int{from}
	seen[from] = true
	for len(rest) > 0 && !seen[to] {
		at := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		for _, e := range o.edges[at] {
			if !seen[e.to] {
				seen[e.to] = true
				rest = append(rest, e.to)
			}
		}
	}
	return seen[to]
}

// comparisons returns comparisons that hold where a condition does: the condition itself, or bounds that follow from a
// list, from a prefix, or from NOT before a comparison.
func (t *term) comparisons() []*term {
	bound := func(r Relation, v property.Value) *term {
		return &term{code: compare, relation: r, args: []*term{t.args[0], {code: constant, value: v, typ: v.Type()}}}
	}
	switch t.code {
	case compare:
		return []*term{t}
	case in:
		all := t.members.values
		return []*term{bound(Ge, all[0]), bound(Le, all[len(all)-1])}
	case startsWith:
		if t.args[0].code != read || !t.args[1].isConstant() {
			return nil
		}
		prefix := []byte(t.args[1].value.Str())
		all := []*term{bound(Ge, t.args[1].value)}
		if n := len(prefix); n > 0 && prefix[n-1] < math.MaxUint8 {
			prefix[n-1]++
			all = append(all, bound(Lt, property.Text(string(prefix))))
		}
		return all
	}
	return nil
}

// differenceBound says that value a less value b is at most most. The slot without a property stands for 0.
type differenceBound struct {
	a, b Slot
	most *big.Int
}

// negativeCycle reports whether bounds of differences of whole numbers have a negative sum on some cycle.
func negativeCycle(terms []*term) bool {
	var bounds []differenceBound
	for _, t := range terms {
		for _, comparison := range t.comparisons() {
			c := &Condition{root: comparison}
			c.compile(comparison)
			all, ok := c.Linears()
			for i := range all {
				if !ok && len(all[i].Weights) > 0 {
					continue // weights may not fit
				}
				if b, difference := all[i].difference(c.Slots); difference {
					bounds = append(bounds, b)
				}
			}
		}
	}
	sums := map[Slot]*big.Int{}
	for _, b := range bounds {
		sums[b.a], sums[b.b] = new(big.Int), new(big.Int)
	}
	for range len(sums) + 1 {
		changed := false
		for _, b := range bounds {
			if sum := new(big.Int).Add(sums[b.b], b.most); sum.Cmp(sums[b.a]) < 0 {
				sums[b.a], changed = sum, true
			}
		}
		if !changed {
			return false
		}
	}
	return true // only on a cycle does a path of more edges than nodes improve a sum
}

// difference returns the bound of a difference, or of one value, of which l is a multiple; where values cancel out it
// is a bound of 0.
func (l *Linear) difference(slots []Slot) (b differenceBound, ok bool) {
	switch n := len(l.Weights); {
	case n == 0:
		b.most = l.Most
		return b, true
	case n > 2 || n == 2 && l.Weights[0].By != -l.Weights[1].By:
		return b, false
	}
	for _, w := range l.Weights {
		if w.By > 0 {
			b.a = slots[w.Slot]
		} else {
			b.b = slots[w.Slot]
		}
	}
	by := big.NewInt(l.Weights[0].By)
	b.most, _ = new(big.Int).DivMod(l.Most, by.Abs(by), new(big.Int)) // rounded down
	return b, true
}

func tenTo(n uint8) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
