package groups

import (
	"cmp"
	"slices"
	"sort"
)

// memberChange is a member of a window that the staged batch inserts or deletes.
type memberChange struct {
	ts    int64
	order uint32
}

// orderSpan is the least and the greatest order of some changes.
type orderSpan struct{ least, most uint32 }

func (s orderSpan) join(t orderSpan) orderSpan {
	return orderSpan{min(s.least, t.least), max(s.most, t.most)}
}

// memberChanges are the changes that a view has. A batch may change all members of a hub, and concern as many windows,
// each of which asks for its own changes. So they are sorted, and a window's orders are found in logarithmic time.
type memberChanges struct {
	all []memberChange // by ts, once they are complete
	// tree has the orders of change i at len(all)+i, and at i those at 2i and 2i+1.
	tree []orderSpan
}

func (c *memberChanges) add(ts int64, order uint32) { c.all = append(c.all, memberChange{ts, order}) }

// end makes complete changes ready for questions.
func (c *memberChanges) end() {
	slices.SortFunc(c.all, func(x, y memberChange) int { return cmp.Compare(x.ts, y.ts) })
	n := len(c.all)
	c.tree = make([]orderSpan, 2*n)
	for i := range c.all {
		c.tree[n+i] = orderSpan{c.all[i].order, c.all[i].order}
	}
	for i := n - 1; i > 0; i-- {
		c.tree[i] = c.tree[2*i].join(c.tree[2*i+1])
	}
}

// between returns which changes have a ts of the given ones or between them: those from one up to another.
func (c *memberChanges) between(from, to int64) (first, end int) {
	first = sort.Search(len(c.all), func(i int) bool { return c.all[i].ts >= from })
	end = first + sort.Search(len(c.all)-first, func(i int) bool { return c.all[first+i].ts > to })
	return first, end
}

// orders returns the orders of the changes from one up to another; there is one at least.
func (c *memberChanges) orders(first, end int) orderSpan {
	n := len(c.all)
	of := c.tree[n+first]
	for i, j := n+first, n+end; i < j; i, j = i/2, j/2 {
		if i&1 == 1 {
			of = of.join(c.tree[i])
			i++
		}
		if j&1 == 1 {
			j--
			of = of.join(c.tree[j])
		}
	}
	return of
}
