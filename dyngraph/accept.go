package dyngraph

import (
	"slices"
	"unicode/utf8"
)

// Accept decides message by message, in order, what the graph takes (DESIGN S3, S10): a message with one bad update
// is refused whole and leaves no trace. It returns the updates of the accepted messages, in order, which Stage takes,
// and a Reject for every refused one. The graph does not change. Messages are judged against the graph as it is,
// followed by the accepted ones before them.
//
// Refused are: an unknown Op; values of an insertion that Options.Schema does not declare for the label or that are not
// of the declared type; values of a vertex that are not of the type of their column; keys that are empty, longer than
// Options.MaxKeyLen bytes or not valid UTF-8; labels, and ids that identify edges, longer than that or not valid UTF-8;
// self-loops, by either edge operation; a label that contradicts the one the vertex has, by any operation (a label may
// be set once on a vertex that has none; to change it, delete the vertex and declare it again; where vertices may have
// several labels, none contradicts another); a label of =v that has no sign; and whatever might exceed
// Options.MaxVertices, Options.MaxLabels, LimitEdges, LimitVertexLabels or the edge indexes. These limits are judged as
// if every vertex, label and edge that comes and goes inside the batch stayed, so that Stage cannot fail of them.
//
// Accepted without any effect are: the deletion of an absent edge or vertex; =v of an absent vertex; values of a vertex
// that its label does not declare; declaring a vertex that is there with the label that it has, or with none, and with
// the values that it has; an insertion that is late (SetHorizons), which is not judged by what there is. A deletion
// sets no label.
func (g *Graph) Accept(msgs []Message) ([]Update, []Reject) {
	total := 0
	for i := range msgs {
		total += len(msgs[i].Updates)
	}
	a := &g.acceptor
	a.reset(g)
	if g.edgeLimit > 0 && uint64(g.nedges)+uint64(total) > g.edgeLimit {
		a.fresh = make(map[edgeIdentity]struct{})
	}
	accepted := make([]Update, 0, total)
	g.unresolve()
	g.resolved = slices.Grow(g.resolved, total)
	var rejects []Reject
messages:
	for i := range msgs {
		a.begin()
		for j := range msgs[i].Updates {
			if len(a.ahead) == 0 {
				a.lookAhead(msgs[i:], j)
			}
			r := a.ahead[0]
			a.ahead = a.ahead[1:]
			if err := a.update(&msgs[i].Updates[j], r); err != nil {
				a.ahead = a.ahead[min(len(a.ahead), len(msgs[i].Updates)-j-1):]
				a.rollback()
				rejects = append(rejects, Reject{Message: i, Update: j, Err: err})
				continue messages
			}
		}
		accepted = append(accepted, msgs[i].Updates...)
	}
	if g.staged.active {
		g.unresolve() // Abort may take back what they say
	}
	return accepted, rejects
}

// vertexState is the state of a key during Accept.
type vertexState struct {
	present bool
	label   string
}

// acceptor is the graph with the accepted messages laid over it, as far as acceptance depends on them. Each call of
// Accept uses its memory again.
type acceptor struct {
	g         *Graph
	over      map[string]vertexState   // keys whose state differs from the graph's, which does not know them
	overKnown map[VertexID]vertexState // likewise vertices of the graph
	newLabels map[string]struct{}
	// given are the labels that the batch gives to vertices which may have several, and givenTo how many by key.
	given   map[labelOfKey]struct{}
	givenTo map[string]int
	ids     uint64 // vertex ids in use, pending or asked for
	edges   uint64 // likewise

	// fresh are the edges of the batch that the graph does not have; nil when all of the batch fits below the limit of
	// edges.
	fresh map[edgeIdentity]struct{}

	undo       []vertexUndo // of the message in hand
	freshUndo  []edgeIdentity
	first      int // index of its first resolution
	labelUndo  []string
	givenUndo  []labelOfKey
	idsBefore  uint64
	edgeBefore uint64

	window [ahead]resolved
	ahead  []resolved // the part of window that is of the updates that come next
}

type vertexUndo struct {
	key   string
	id    VertexID
	state vertexState
	had   bool
}

// reset takes the messages off the graph.
func (a *acceptor) reset(g *Graph) {
	a.g, a.ids, a.edges = g, g.idsInUse(), g.edgesInUse()
	a.over, a.overKnown, a.newLabels = emptiedMap(a.over), emptiedMap(a.overKnown), emptiedMap(a.newLabels)
	a.given, a.givenTo = emptiedMap(a.given), emptiedMap(a.givenTo)
	a.undo, a.labelUndo, a.freshUndo = emptied(a.undo), emptied(a.labelUndo), emptied(a.freshUndo)
	a.givenUndo = emptied(a.givenUndo)
	a.fresh, a.ahead = nil, nil
}

func (a *acceptor) begin() {
	a.undo, a.labelUndo, a.freshUndo = a.undo[:0], a.labelUndo[:0], a.freshUndo[:0]
	a.givenUndo = a.givenUndo[:0]
	a.idsBefore, a.edgeBefore = a.ids, a.edges
	a.first = len(a.g.resolved)
}

func (a *acceptor) rollback() {
	for i := len(a.undo) - 1; i >= 0; i-- {
		switch u := &a.undo[i]; {
		case u.id != NoVertex && u.had:
			a.overKnown[u.id] = u.state
		case u.id != NoVertex:
			delete(a.overKnown, u.id)
		case u.had:
			a.over[u.key] = u.state
		default:
			delete(a.over, u.key)
		}
	}
	for _, l := range a.labelUndo {
		delete(a.newLabels, l)
	}
	for _, l := range a.givenUndo {
		delete(a.given, l)
		a.givenTo[l.key]--
	}
	for _, e := range a.freshUndo {
		delete(a.fresh, e)
	}
	a.ids, a.edges = a.idsBefore, a.edgeBefore
	clear(a.g.resolved[a.first:])
	a.g.resolved = a.g.resolved[:a.first]
}

// lookAhead resolves the next updates: msgs[0]'s from the j-th on, and those of the messages behind it.
func (a *acceptor) lookAhead(msgs []Message, j int) {
	n := 0
	for i := 0; i < len(msgs) && n < ahead; i, j = i+1, 0 {
		for ; j < len(msgs[i].Updates) && n < ahead; j++ {
			a.window[n] = unresolved(&msgs[i].Updates[j])
			n++
		}
	}
	a.ahead = a.window[:n]
	a.g.resolve(a.ahead)
}

// state returns the state of a key; id is its vertex in the graph without the batch.
func (a *acceptor) state(key string, id VertexID) vertexState {
	if id == NoVertex {
		return a.over[key]
	}
	if s, ok := a.overKnown[id]; ok {
		return s
	}
	return vertexState{true, a.g.labels.names[a.g.vlabel[id]]}
}

func (a *acceptor) set(key string, id VertexID, s vertexState) {
	u := vertexUndo{key: key, id: id}
	if id == NoVertex {
		u.state, u.had = a.over[key]
		a.over[key] = s
	} else {
		u.state, u.had = a.overKnown[id]
		a.overKnown[id] = s
	}
	a.undo = append(a.undo, u)
}

// update judges an update, whose keys r has resolved.
func (a *acceptor) update(u *Update, r resolved) error {
	switch u.Op {
	case InsertEdge, DeleteEdge:
		if err := a.checkEdge(u); err != nil {
			return err
		}
		a.g.resolved = append(a.g.resolved, r) // for Stage
		if u.Op == DeleteEdge {
			if a.g.several() {
				return nil
			}
			if err := a.agree(u.From, u.FromLabel, r.fromID); err != nil {
				return err
			}
			return a.agree(u.To, u.ToLabel, r.toID)
		}
		if a.g.Late(u) {
			return nil
		}
		if err := a.declareLabels(u.From, u.FromLabel, r.fromID); err != nil {
			return err
		}
		if err := a.declareLabels(u.To, u.ToLabel, r.toID); err != nil {
			return err
		}
		if err := a.label(u.Label); err != nil {
			return err
		}
		if len(u.Attr.Values) > 0 {
			if err := a.g.checkValues(u.Label, u.Attr.Values); err != nil {
				return err
			}
		}
		if err := a.limitEdges(u, r); err != nil {
			return err
		}
		return a.addEdges(1)
	case InsertVertex, DeleteVertex, ReviseVertex:
		if err := a.checkKey("key", u.Key); err != nil {
			return err
		}
		if err := a.checkLabels("label", u.Label, u.Op == ReviseVertex); err != nil {
			return err
		}
		a.g.resolved = append(a.g.resolved, r) // for Stage
		if err := a.g.checkVertexValues(u); err != nil {
			return err
		}
		if u.Op == InsertVertex {
			return a.declareLabels(u.Key, u.Label, r.fromID)
		}
		switch several := a.g.several(); {
		case several && u.Op == ReviseVertex:
			return a.newLabelsOf(u.Key, r.fromID, u.Label, true)
		case several:
		default:
			if err := a.agree(u.Key, u.Label, r.fromID); err != nil {
				return err
			}
		}
		if u.Op == ReviseVertex {
			return nil
		}
		if a.state(u.Key, r.fromID).present {
			a.set(u.Key, r.fromID, vertexState{})
		}
		return nil
	}
	return refuse(ReasonBadOp, "operation %d is unknown; use +, -, +v, -v or =v", uint8(u.Op))
}

func (a *acceptor) checkEdge(u *Update) error {
	if err := a.checkKey("from", u.From); err != nil {
		return err
	}
	if err := a.checkKey("to", u.To); err != nil {
		return err
	}
	if u.From == u.To {
		return refuse(
			ReasonSelfLoop,
			"edge from %s to itself; self-loops are not supported, the ends must differ",
			quote(u.From),
		)
	}
	if err := a.checkID(u.Attr.ID); err != nil {
		return err
	}
	if err := a.checkLabel("label", u.Label); err != nil {
		return err
	}
	if err := a.checkLabels("from_label", u.FromLabel, false); err != nil {
		return err
	}
	return a.checkLabels("to_label", u.ToLabel, false)
}

func (a *acceptor) checkKey(field, key string) error {
	switch {
	case key == "":
		return refuse(ReasonBadKey, "%s is empty; a vertex key has 1 to %d bytes", field, a.g.opt.MaxKeyLen)
	case len(key) > a.g.opt.MaxKeyLen:
		return refuse(ReasonBadKey, "%s %s is too long; a vertex key has 1 to %d bytes", field, quote(key),
			a.g.opt.MaxKeyLen)
	case !utf8.ValidString(key):
		return refuse(ReasonBadKey, "%s %s is not valid UTF-8", field, quote(key))
	}
	return nil
}

func (a *acceptor) checkLabel(field, label string) error {
	switch {
	case len(label) > a.g.opt.MaxKeyLen:
		return refuse(
			ReasonBadLabel,
			"%s %s is too long; a label has at most %d bytes",
			field,
			quote(label),
			a.g.opt.MaxKeyLen,
		)
	case !utf8.ValidString(label):
		return refuse(ReasonBadLabel, "%s %s is not valid UTF-8", field, quote(label))
	}
	return nil
}

// checkID judges an id that identifies an edge.
func (a *acceptor) checkID(id string) error {
	switch {
	case !a.g.opt.EdgeIDs:
		return nil
	case len(id) > a.g.opt.MaxKeyLen:
		return refuse(ReasonBadID, "id %s is too long; the id of an edge has at most %d bytes", quote(id),
			a.g.opt.MaxKeyLen)
	case !utf8.ValidString(id):
		return refuse(ReasonBadID, "id %s is not valid UTF-8", quote(id))
	}
	return nil
}

// agree refuses a label that contradicts the vertex's.
func (a *acceptor) agree(key, label string, id VertexID) error {
	if label == "" {
		return nil
	}
	if s := a.state(key, id); s.present && s.label != "" && s.label != label {
		return conflict(key, s.label, label)
	}
	return nil
}

func conflict(key, has, declared string) error {
	return refuse(
		ReasonLabelConflict,
		"vertex %s has label %s, not %s; to change it, delete the vertex (-v) and declare it again (+v)",
		quote(key),
		quote(has),
		quote(declared),
	)
}

// declare makes the vertex present, and sets its label when it has none.
func (a *acceptor) declare(key, label string, id VertexID) error {
	s := a.state(key, id)
	switch {
	case !s.present:
	case label == "" || s.label == label:
		return nil
	case s.label != "":
		return conflict(key, s.label, label)
	}
	if err := a.label(label); err != nil {
		return err
	}
	if a.ids >= uint64(a.g.opt.MaxVertices) {
		return refuse(
			ReasonVertexLimit,
			"no id left for vertex %s: %d of %d are in use, asked for by this batch, or not yet free again",
			quote(key),
			a.ids,
			a.g.opt.MaxVertices,
		)
	}
	a.ids++
	if s.present {
		// Its edges get new indexes with the new label; those of the batch have been counted.
		if id != NoVertex {
			if err := a.addEdges(a.g.Degree(id, Out) + a.g.Degree(id, In)); err != nil {
				return err
			}
		}
	}
	a.set(key, id, vertexState{true, label})
	return nil
}

func (a *acceptor) label(name string) error {
	if name == "" {
		return nil
	}
	if _, ok := a.g.labels.ids[name]; ok {
		return nil
	}
	if _, ok := a.newLabels[name]; ok {
		return nil
	}
	if len(a.g.labels.names)+len(a.newLabels) >= a.g.opt.MaxLabels {
		return refuse(ReasonLabelLimit, "no id left for label %s: the table is full with %d", quote(name),
			a.g.opt.MaxLabels)
	}
	a.newLabels[name] = struct{}{}
	a.labelUndo = append(a.labelUndo, name)
	return nil
}

func (a *acceptor) addEdges(n int) error {
	if a.edges+uint64(n) > uint64(a.g.maxEdges) {
		return refuse(
			ReasonEdgeLimit,
			"no index left for the edge: %d of %d are in use, asked for by this batch, or not yet free again",
			a.edges,
			a.g.maxEdges,
		)
	}
	a.edges += uint64(n)
	return nil
}

// edgeIdentity names an edge by the keys of its ends; in an undirected graph from <= to.
type edgeIdentity struct{ from, to, label, id string }

// LimitEdges has Accept refuse, as ReasonGraphFull, messages whose insertions would give the graph more edges than
// this; 0 is no limit. Edges that are there are renewed, and deleted, whatever the limit; what a batch deletes makes
// room for later batches. It is for the owner of the graph, between batches. Stage does not look at the limit.
func (g *Graph) LimitEdges(limit uint64) { g.edgeLimit = limit }

// limitEdges judges an insertion by the limit of edges.
func (a *acceptor) limitEdges(u *Update, r resolved) error {
	id := a.g.idOf(&u.Attr)
	if a.fresh == nil || a.g.hasEdge(r.fromID, r.toID, u.Label, id) {
		return nil
	}
	e := edgeIdentity{u.From, u.To, u.Label, id}
	if !a.g.opt.Directed && e.from > e.to {
		e.from, e.to = e.to, e.from
	}
	if _, ok := a.fresh[e]; ok {
		return nil
	}
	if n := uint64(a.g.nedges + len(a.fresh)); n >= a.g.edgeLimit {
		return refuse(
			ReasonGraphFull,
			"the graph is full: it has %d edges, those of this batch included, and at most %d are allowed; "+
				"delete edges in an earlier batch, or raise the limit",
			n,
			a.g.edgeLimit,
		)
	}
	a.fresh[e] = struct{}{}
	a.freshUndo = append(a.freshUndo, e)
	return nil
}

// hasEdge tells whether the graph has an edge; while a batch is staged, whether one of the two graphs has it.
func (g *Graph) hasEdge(from, to VertexID, label, id string) bool {
	if from == NoVertex || to == NoVertex {
		return false
	}
	l, ok := g.labels.ids[label]
	if !ok {
		return false
	}
	_, _, ok = g.findSlot(from, to, l, id)
	return ok
}
