package dyngraph

import "unsafe"

// Beside reading ahead (pma_warm.go), which waits for what it reads before anything else is done, memory is asked for
// without waiting: into the cache of the second level, which can have many more lines under way than the first. What
// is asked for has to be told from what is near, in an order like that of the memory: the processor does wait for
// where a page lies, and for the fold, which goes from vertex to vertex at random, asking cost what it saved. It may
// also leave requests undone when memory is busy, so the leaves are read ahead as well; of what is near by then that
// costs little.

// fetchAhead is the number of operations or leaves ahead for which memory is fetched: a group that is read ahead, and
// some of the next one.
const fetchAhead = ahead + ahead/4

// lineSize is the bytes of a line of the cache.
const lineSize = 64

// addressOf returns where an element of a column is.
func addressOf[T any](column []T, i int) unsafe.Pointer { return unsafe.Pointer(&column[i]) }

// fetchSegment asks for the leaf of a segment of a batch, and for the heads of its first and last vertices.
func (p *pma) fetchSegment(ops []slot, s *segment) {
	leaf := int(s.window)
	first, last := int(ops[s.first].vertex()), int(ops[s.end-1].vertex())
	fetchLines(addressOf(p.runs, leaf), addressOf(p.first, leaf), 1)
	fetchLines(addressOf(p.heads, first), addressOf(p.heads, min(last+2, len(p.heads)-1)), 1) // see warmSegments
	const line = lineSize / 4                                                                 // slots
	from, to := int(s.from)&^(line-1), min(int(p.count[leaf]), leafSize-1)                    // one more may come
	at := leaf*leafSize + from
	fetchLines(addressOf(p.nbr, at), addressOf(p.ent, at), (to-from)/line+1)
}

// fetchSlot asks for a slot; it may be beyond the array.
func (p *pma) fetchSlot(s int) {
	if s < len(p.ent) {
		fetchLines(addressOf(p.nbr, s), addressOf(p.ent, s), 1)
	}
}

// fetchOrder asks for the order of an edge.
func (g *Graph) fetchOrder(e EdgeIndex) {
	at := addressOf(g.order, int(e))
	fetchLines(at, at, 1)
}
