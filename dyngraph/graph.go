package dyngraph

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"motifd/dyngraph/property"
)

// Options configure a Graph.
type Options struct {
	// Directed tells whether an edge's ends are ordered.
	Directed bool
	// EdgeIDs has edges identified by their ids, too: edges with different ids are parallel, and the edge without id is
	// one of them (DESIGN S14). Otherwise an id is an attribute, and there is one edge of a label between two ends.
	EdgeIDs bool
	// MaxVertices bounds the dense ids: in use, or freed and not yet free again. 0 is 2^32-2, the most there are.
	MaxVertices uint32
	// MaxLabels bounds the label table, NoLabel included. 0 is 1<<20; the most is 1<<31.
	MaxLabels int
	// MaxKeyLen bounds vertex keys and labels, in bytes. 0 is 1024.
	MaxKeyLen int
	// Schema declares the properties whose values the graph keeps in columns, and whether a new time is a new version
	// of an edge. nil declares none. It must not change any more.
	Schema *property.Schema
	// Background runs work on a goroutine of the caller's, beside the calls of the Graph: memory that large columns
	// need next is made there, and a Loader has a part of its work done on each of several. The work ends by itself,
	// and need not be waited for. nil: memory is made when it is needed, for which a batch may wait, and a Loader works
	// alone.
	Background func(work func())
}

func (o Options) withDefaults() Options {
	if o.MaxVertices == 0 || o.MaxVertices > math.MaxUint32-1 {
		o.MaxVertices = math.MaxUint32 - 1
	}
	if o.MaxLabels <= 0 {
		o.MaxLabels = 1 << 20
	}
	o.MaxLabels = min(o.MaxLabels, 1<<31)
	if o.MaxKeyLen <= 0 {
		o.MaxKeyLen = 1024
	}
	return o
}

// Graph is the dynamic graph. See the package comment for the life of a batch and for who may call what when.
type Graph struct {
	opt    Options
	labels labelTable

	// Vertices. keys leads to the vertex that bears a key in G_n; the columns are by dense id.
	keys   dictionary
	vkey   []string
	vlabel []LabelID
	vstate []vertexBits
	// vertexColumns declares what vertexValues hold, by dense id.
	vertexColumns *property.Columns
	vertexValues  []valueColumn
	bound         uint32 // ids ever given out are below
	nverts        int
	free          freeSet
	older         []VertexID // freed by the last batch but one
	newer         []VertexID // freed by the last batch

	// Edges: columns by edge index, beside adj.edges.
	order      []uint32 // see OrderTable
	columns    *property.Columns
	attr       attrs
	edgeBound  uint32
	nedges     int
	freeEdges  freeSet
	olderEdges []EdgeIndex
	newerEdges []EdgeIndex
	maxEdges   uint32 // edge indexes there are; lower in tests
	// maxVertexLabels is LimitVertexLabels.
	maxVertexLabels int

	edgeLimit uint64 // see LimitEdges

	expiry       expiry   // see SetHorizons
	isolated     bool     // see ExpireIsolated
	listVertices bool     // see ListVertices
	implied      []uint64 // bitmap by vertex id
	sweep        bool     // the next batch looks at all implied vertices: those without edges have not gone up to now
	degrees      degreeChanges

	adj   pma
	stats stats

	parallel parallelEdges

	acceptor acceptor
	resolved []resolved // of what Accept took last
	fold     folder
	staged   staged

	spares struct {
		vkey   spare[string]
		vlabel spare[LabelID]
		vstate spare[vertexBits]
		edges  spare[edge]
		order  spare[uint32]
	}
}

// vertexBits says in which of the two graphs a vertex is: bit w for Which w.
type vertexBits uint8

const inBoth = vertexBits(1<<Old | 1<<New)

// NewGraph returns an empty graph.
func NewGraph(opt Options) *Graph {
	g := &Graph{
		opt:      opt.withDefaults(),
		labels:   newLabelTable(),
		keys:     newDictionary(),
		maxEdges: uint32(NoEdge),
	}
	g.adj.directed, g.adj.bg, g.attr.bg = opt.Directed, opt.Background, opt.Background
	g.columns, g.vertexColumns = opt.Schema.EdgeColumns(), opt.Schema.VertexColumns()
	g.attr.columns, g.vertexValues = newColumns(g.columns.All()), newColumns(g.vertexColumns.All())
	g.stats.triples = make(map[tripleKey]*int)
	g.fold.reset()
	return g
}

// Options returns the options, with the defaults filled in.
func (g *Graph) Options() Options { return g.opt }

// Changing tells whether a batch is staged that inserts or deletes edges, or revises vertices.
func (g *Graph) Changing() bool { return g.staged.active && len(g.staged.delta.Net) > 0 }

// InBatch reports whether a batch is staged.
func (g *Graph) InBatch() bool { return g.staged.active }

// Directed tells whether edges have a direction.
func (g *Graph) Directed() bool { return g.opt.Directed }

// LabelID returns the id of an interned label; "" is NoLabel. Labels that the staged batch brings are included.
func (g *Graph) LabelID(name string) (LabelID, bool) {
	id, ok := g.labels.ids[name]
	return id, ok
}

// LabelName returns the label's name, "" for NoLabel.
func (g *Graph) LabelName(id LabelID) string { return g.labels.names[id] }

// Labels returns the length of the label table, NoLabel included: every label id is below.
func (g *Graph) Labels() int { return len(g.labels.names) }

// Vertices returns the number of vertices. While a batch is staged it counts those of both graphs: created ones, and
// freed ones until Commit.
func (g *Graph) Vertices() int { return g.nverts }

// Edges returns the number of edges. While a batch is staged it counts those of both graphs: inserted ones, and deleted
// ones until Commit.
func (g *Graph) Edges() int { return g.nedges }

// IDBound returns a bound below which all vertex ids are.
func (g *Graph) IDBound() uint32 { return g.bound }

// EdgeBound returns a bound below which all edge indexes are.
func (g *Graph) EdgeBound() uint32 { return g.edgeBound }

// Lookup returns the vertex that bears the key in G_n, the new graph while a batch is staged.
func (g *Graph) Lookup(key string) (VertexID, bool) {
	id := g.find(key)
	return id, id != NoVertex
}

// PendingFree returns the ids that are not yet free again: those that the last batch but one freed, free from the next
// Stage on, and those that the last batch freed. Both are in the order of Delta.Freed and belong to the Graph. Abort
// ends no batch.
func (g *Graph) PendingFree() (older, newer []VertexID) { return g.older, g.newer }

// stagedDeleted marks an order in the side table as that of a deleted edge.
const stagedDeleted = 1 << 31

// Replaced marks an order in the side table as that of an edge that is replaced: it is that of its old version, and
// that of its new version is the next.
const Replaced = 1 << 30

// Columns returns the columns of the declared properties of edges.
func (g *Graph) Columns() *property.Columns { return g.columns }

// VertexColumns returns the columns of the declared properties of vertices.
func (g *Graph) VertexColumns() *property.Columns { return g.vertexColumns }

// Staged returns the sign and order of an edge that the staged batch inserts, deletes or replaces; of a replaced one
// those of its deletion.
func (g *Graph) Staged(e EdgeIndex) (sign Sign, order uint32, ok bool) {
	o := g.order[e]
	switch {
	case o == 0:
		return 0, 0, false
	case o&stagedDeleted != 0:
		return Deleted, o&^stagedDeleted - 1, true
	case o&Replaced != 0:
		return Deleted, o&^Replaced - 1, true
	}
	return Inserted, o - 1, true
}

// OrderTable returns the side table of batch orders, by edge index: 0 for an edge that is not staged, else its order
// plus 1, with the top bit set when the batch deletes it. With Replaced set the edge is in both graphs: the order is
// that of its deletion, and its insertion has the next one. It is valid until the next Stage, Commit or Abort.
func (g *Graph) OrderTable() []uint32 { return g.order }

// View is the graph as one of the two that a staged batch shows. It is a small value.
type View struct {
	g *Graph
	w Which
}

// View returns a view. Without a staged batch both show the same.
func (g *Graph) View(w Which) View { return View{g, w} }

// Graph returns the graph that the view is of.
func (v View) Graph() *Graph { return v.g }

// Which returns which of the two graphs the view shows.
func (v View) Which() Which { return v.w }

// Visible tells whether an edge that has entries in the graph is in the view.
func (v View) Visible(e EdgeIndex) bool {
	o := v.g.order[e]
	return o == 0 || o&(stagedDeleted|Replaced) == Replaced || (o&stagedDeleted != 0) == (v.w == Old)
}

// HasVertex tells whether the vertex is in the view.
func (v View) HasVertex(id VertexID) bool {
	return uint32(id) < v.g.bound && v.g.vstate[id]>>v.w&1 != 0
}

// Edge returns the identity of an edge; in an undirected graph from < to. The edge need not be visible.
func (v View) Edge(e EdgeIndex) (from, to VertexID, label LabelID) {
	x := &v.g.adj.edges[e]
	return x.from, x.to, x.label
}

// ID returns the id that identifies an edge among those parallel to it, "" for the edge without id. Where ids do not
// identify edges (Options.EdgeIDs) it is "".
func (v View) ID(e EdgeIndex) string { return v.g.edgeID(e) }

// CompareEdges compares the identities of two edges: from, to, label, as dense ids, then the ids that users gave, by
// bytes, if they identify edges.
func (v View) CompareEdges(a, b EdgeIndex) int {
	if a == b {
		return 0
	}
	x, y := &v.g.adj.edges[a], &v.g.adj.edges[b]
	if c := cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to), cmp.Compare(x.label, y.label)); c != 0 {
		return c
	}
	return cmp.Compare(v.g.edgeID(a), v.g.edgeID(b))
}

// Attr returns an edge's attributes as of the view's graph: what the staged batch renews or replaces shows in the new
// one only. The properties are shared and immutable.
func (v View) Attr(e EdgeIndex) Attr {
	if v.w == New {
		if a, ok := v.g.staged.renewal(e); ok {
			return a
		}
	}
	return v.g.attr.get(e)
}

// AttrOutside is Attr without Values, which Value gives one by one. It allocates nothing.
func (v View) AttrOutside(e EdgeIndex) Attr {
	if v.w == New {
		if a, ok := v.g.staged.renewal(e); ok {
			a.Values = nil
			return a
		}
	}
	return v.g.attr.outside(e)
}

// Value returns the value of an edge in a column as of the view's graph, null where the edge has none. property.TS
// stands for its time, declared or not.
func (v View) Value(e EdgeIndex, column int) property.Value {
	if v.w == New {
		if a := v.g.staged.renewedValues(v.g.order[e]); a != nil {
			return a.Value(column)
		}
	}
	return v.g.attr.value(e, column)
}

// VertexValue returns the value of a vertex in a column as of the view's graph, null where it has none.
func (v View) VertexValue(id VertexID, column int) property.Value {
	if v.w == New {
		if values, ok := v.g.staged.revisedValues(id); ok {
			return values[column]
		}
	}
	return v.g.vertexValues[column].get(uint32(id))
}

// VertexValues returns the values of a vertex by column as of the view's graph, nil when all are null.
func (v View) VertexValues(id VertexID) []property.Value {
	if v.w == New {
		if values, ok := v.g.staged.revisedValues(id); ok {
			return property.WithoutNulls(slices.Clone(values))
		}
	}
	return valuesAt(v.g.vertexValues, uint32(id))
}

// Key returns the vertex's external key. A freed id has it until the id is used again.
func (v View) Key(id VertexID) string { return v.g.vkey[id] }

// Label returns the vertex's label. A freed id has it until the id is used again.
func (v View) Label(id VertexID) LabelID { return v.g.vlabel[id] }

// LabelName returns a label's name.
func (v View) LabelName(l LabelID) string { return v.g.labels.names[l] }

// VerticesSeq yields the view's vertices, ascending.
func (v View) VerticesSeq() iter.Seq[VertexID] {
	return func(yield func(VertexID) bool) {
		for id := range v.g.bound {
			if v.g.vstate[id]>>v.w&1 != 0 && !yield(VertexID(id)) {
				return
			}
		}
	}
}

// EdgesSeq yields the view's edges once each, ascending by (from, label, to), parallel ones by id.
func (v View) EdgesSeq() iter.Seq[EdgeIndex] {
	if v.g.parallel.labels > 0 {
		return v.parallelSeq()
	}
	return v.slotsSeq()
}

// slotsSeq yields the view's edges once each, in the order of the array.
func (v View) slotsSeq() iter.Seq[EdgeIndex] {
	return func(yield func(EdgeIndex) bool) {
		for id := range v.g.bound {
			r := v.g.RangeAll(VertexID(id), Out)
			for nbr, ent, ok := r.Next(); ok; nbr, ent, ok = r.Next() {
				for i, x := range ent {
					if !v.g.opt.Directed && nbr[i] < VertexID(id) {
						continue // listed under its lower end
					}
					if x.Staged() && !v.Visible(x.Index()) {
						continue
					}
					if !yield(x.Index()) {
						return
					}
				}
			}
		}
	}
}
