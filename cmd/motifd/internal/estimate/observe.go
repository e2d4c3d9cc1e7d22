package estimate

import (
	"cmp"
	"maps"
	"math/big"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
)

// quiet are the parts of a stream.Observer that tell nothing of costs.
type quiet struct{}

// Read implements stream.Observer.
func (quiet) Read(stream.ReadStats) {}

// Span implements stream.Observer.
func (quiet) Span(stream.Span) {}

// Commit implements stream.Observer.
func (quiet) Commit(stream.CommitStats) {}

// effort is the cost of a search.
type effort struct{ steps, ns uint64 }

func (e *effort) add(q *matcher.QuerySummary) {
	e.steps += q.Steps
	e.ns += uint64(max(q.SearchNS, 0))
}

// ofInput tells whether a batch is one of the input, and not of a change of queries or of the retention.
func ofInput(s *stream.StepStats) bool {
	return s.Batch.Change == nil && s.Batch.Declaration == nil && (s.Batch.Time == nil || s.Batch.Time.Retention == nil)
}

// Updates is the stream.Observer of batches of one update each: what each update costs.
type Updates struct {
	quiet
	count   uint64
	queries map[string]*updatesOf
}

// updatesOf is the cost of one query, update by update.
type updatesOf struct {
	each     []effort // of the updates that concern the query
	worst    dyngraph.Update
	most     effort
	vertices map[string]*vertexCost
}

// vertexCost is the cost of the updates at a vertex.
type vertexCost struct{ updates, steps uint64 }

// Step implements stream.Observer. The search of a batch without updates, in which edges expire, is of no update.
func (u *Updates) Step(s stream.StepStats) {
	if !ofInput(&s) || len(s.Batch.Updates) == 0 {
		return
	}
	u.count += uint64(len(s.Batch.Updates))
	for i := range s.Summary.Queries {
		q := &s.Summary.Queries[i]
		if u.queries == nil {
			u.queries = map[string]*updatesOf{}
		}
		of := u.queries[q.Query.Name]
		if of == nil {
			of = &updatesOf{vertices: map[string]*vertexCost{}}
			u.queries[q.Query.Name] = of
		}
		of.note(&s.Batch.Updates[0], q)
	}
}

func (of *updatesOf) note(u *dyngraph.Update, q *matcher.QuerySummary) {
	var e effort
	e.add(q)
	if len(of.each) == 0 || e.steps > of.most.steps {
		of.most, of.worst = e, *u
	}
	of.each = append(of.each, e)
	ends := []string{u.From, u.To}
	if u.Key != "" {
		ends = []string{u.Key}
	}
	for _, key := range ends {
		v := of.vertices[key]
		if v == nil {
			v = &vertexCost{}
			of.vertices[key] = v
		}
		v.updates++
		v.steps += e.steps
	}
}

// costliest returns the vertex at which the updates took most steps, the first one by its key of several.
func (of *updatesOf) costliest() (key string, cost vertexCost) {
	for _, k := range slices.Sorted(maps.Keys(of.vertices)) {
		if v := of.vertices[k]; v.steps > cost.steps {
			key, cost = k, *v
		}
	}
	return key, cost
}

// Batches is the stream.Observer of batches as a daemon cuts them: what the stream costs, and which limits are met.
type Batches struct {
	quiet
	Size int // updates in a batch, at most

	updates, refused uint64
	blocks           []uint64 // updates of each block that is closed
	open             uint64   // updates of the last one, which is not
	queries          map[string]*batchesOf
}

// block is the number of updates over which the cost of a stream is summed, at least.
const block = 1000

// batchesOf is the cost of one query, in batches.
type batchesOf struct {
	blocks             []effort // of closed blocks, and perhaps the open one; missing at the end: none
	positive, negative matcher.Count
	changed            matcher.Count
	left               map[string]uint64 // groups that were left out, by limit
	truncated          uint64            // batches
	once               uint64
	suspended          string // the limit; empty if it is not
}

// Step implements stream.Observer.
func (b *Batches) Step(s stream.StepStats) {
	if !ofInput(&s) {
		return
	}
	for _, d := range s.Batch.DeadLetters {
		if d.Refused() {
			b.refused++
		}
	}
	n := uint64(len(s.Batch.Updates))
	b.updates += n
	b.open += n
	for i := range s.Summary.Queries {
		q := &s.Summary.Queries[i]
		if b.queries == nil {
			b.queries = map[string]*batchesOf{}
		}
		of := b.queries[q.Query.Name]
		if of == nil {
			of = &batchesOf{left: map[string]uint64{}}
			b.queries[q.Query.Name] = of
		}
		of.note(len(b.blocks), q)
	}
	if b.open >= block {
		b.blocks, b.open = append(b.blocks, b.open), 0
	}
}

func (of *batchesOf) note(at int, q *matcher.QuerySummary) {
	for len(of.blocks) <= at {
		of.blocks = append(of.blocks, effort{})
	}
	of.blocks[at].add(q)
	of.positive, of.negative = of.positive.Add(q.Positive), of.negative.Add(q.Negative)
	of.changed = of.changed.Add(q.Changed)
	of.once += q.Once
	if q.Skipped > 0 {
		of.left[q.Cause.String()] += q.Skipped
	}
	if q.Truncated {
		of.truncated++
	}
	if q.Suspended != nil {
		of.suspended = q.Suspended.Cause.String()
	}
}

// perThousand returns what blocks of a thousand updates took: those that are closed, or the open one if none is.
func (b *Batches) perThousand(of *batchesOf) (out []effort, scale []float64) {
	sizes := b.blocks
	if len(sizes) == 0 && b.open > 0 {
		sizes = []uint64{b.open}
	}
	for i, n := range sizes {
		var e effort
		if i < len(of.blocks) {
			e = of.blocks[i]
		}
		out, scale = append(out, e), append(scale, block/float64(n))
	}
	return out, scale
}

// spread is the median and the greatest of some numbers, 0 of none.
func spread(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	slices.SortFunc(values, cmp.Compare)
	return Spread{Median: values[(len(values)-1)/2], Worst: values[len(values)-1]}
}

// float returns the nearest floating-point number.
func float(c matcher.Count) float64 {
	f, _ := new(big.Float).SetInt(c.Big()).Float64()
	return f
}
