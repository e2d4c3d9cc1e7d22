package matcher

import (
	"errors"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"motifd/matcher/condition"
)

// Bounds on patterns (DESIGN S11).
const (
	MinVertices = 1 // without edges, a vertex with a condition
	MaxVertices = 32
	MaxEdges    = MaxVertices * (MaxVertices - 1) / 2 // a complete graph
	// MaxGPUEdges bounds the edges of patterns that a GPU searches; larger ones are searched on the CPU.
	MaxGPUEdges = 64
	// MaxNameLen bounds the names of queries, vertices and edges, in bytes.
	MaxNameLen = 255
)

// Unit says what counts as one match of a query.
type Unit uint8

// The units (DESIGN S4).
const (
	Embeddings Unit = iota // every mapping
	Subgraphs              // one mapping per orbit under the pattern's label-preserving automorphisms
)

// Emit says what a query emits.
type Emit uint8

// The emit modes (DESIGN S12).
const (
	EmitDeltas Emit = iota // every match
	EmitCounts             // one exact number per batch and sign
	EmitExists             // the transitions between no match and some match
)

// OverBudget says what happens to a query that exceeds a limit.
type OverBudget uint8

// The ways.
const (
	SkipGroup    OverBudget = iota // leaves out what is beyond the limit; the query goes on
	SuspendQuery                   // the query is suspended
)

// String returns the way as the configuration spells it.
func (o OverBudget) String() string {
	if o == SuspendQuery {
		return "suspend"
	}
	return "skip"
}

// Backfill says what registration emits.
type Backfill uint8

// The backfill modes (DESIGN S8).
const (
	BackfillNone Backfill = iota
	BackfillFull          // M(G_n), marked snapshot
)

// QueryVertex is a vertex of a pattern.
type QueryVertex struct {
	Name  string `json:"name"`
	Label string `json:"label,omitempty"` // "" matches any label, or none; unless AnyOf says more
	// AnyOf are two or more alternatives of labels (DESIGN S21), ascending. Label is empty then.
	AnyOf []string `json:"any_of,omitempty"`
}

// QueryEdge is an edge of a pattern.
type QueryEdge struct {
	Name  string   `json:"name"`
	From  int      `json:"from"` // index into Query.Vertices
	To    int      `json:"to"`
	Label string   `json:"label,omitempty"` // likewise
	AnyOf []string `json:"any_of,omitempty"`
	// Either lets the edge match in both directions. It is set on every edge of a pattern for an undirected graph.
	Either bool `json:"either,omitempty"`
	// Hops makes the edge a path (DESIGN S26). All of its edges have the label and the direction.
	Hops *Hops `json:"hops,omitempty"`
}

// Field is a field of a query's records: an element of the pattern, or a value computed from the match.
type Field struct {
	Name    string             `json:"name"`
	Element condition.Ref      `json:"element"` // without Formula
	Formula *condition.Formula `json:"formula,omitempty"`
}

// Query is a registered pattern with what to emit for it. It is immutable once registered, and is stored as JSON in
// the checkpoint.
type Query struct {
	Name    string `json:"name"`
	Version uint64 `json:"version"` // 1 for the first; a changed or resumed query is a new version (DESIGN S8, S11)

	Vertices []QueryVertex `json:"vertices"`
	Edges    []QueryEdge   `json:"edges"`

	// Conditions are those of WHERE and of property maps (DESIGN S17); all must be true of a match. Their elements are
	// the pattern's, by index.
	Conditions []*condition.Condition `json:"conditions,omitempty"`
	// Within bounds the greatest ts of a match's edges less the least, in milliseconds (DESIGN S18); 0 is no bound.
	// A match with an edge without ts is not within it.
	Within int64 `json:"within,omitempty"`
	// Rises and Spans are the demands on the ts of edges and paths (DESIGN S26). A condition that reads a path holds
	// for each of its edges.
	Rises []Rise `json:"rises,omitempty"`
	Spans []Span `json:"spans,omitempty"`
	// Negations are patterns that block a match (DESIGN S25): the query has the matches of its core, the rest of it,
	// for which none of them has a match.
	Negations []Negation `json:"negations,omitempty"`
	// Fields are the items of RETURN (DESIGN S22).
	Fields []Field `json:"fields,omitempty"`

	// Groups are the stages of a query with WITH (DESIGN S24); nil without. Vertices and Edges are its keys then, in
	// the order in which WITHs name them: an end of an edge that is no key is -1.
	Groups *Groups `json:"groups,omitempty"`

	// MatchMode says which elements of a match must differ.
	MatchMode MatchMode `json:"match_mode,omitempty"`

	Unit     Unit     `json:"unit"`
	Emit     Emit     `json:"emit"`
	Backfill Backfill `json:"backfill"`

	// MaxMatches is the maximum number of positives emitted per batch, 0 for no cap; ExactTotal asks for the exact
	// total when the cap was reached (DESIGN S11). They go with EmitDeltas.
	MaxMatches uint64 `json:"max_matches_per_batch,omitempty"`
	ExactTotal bool   `json:"exact_total,omitempty"`
	// WorkBudget bounds the search steps that one batch may spend on the query, 0 for no bound but Limits.
	WorkBudget uint64 `json:"work_budget,omitempty"`
	// OverBudget says what becomes of a query that exceeds a limit (DESIGN S11).
	OverBudget OverBudget `json:"over_budget,omitempty"`
	// Sample keeps one match in Sample, by its id, in both signs. 0 and 1 keep all.
	Sample uint64 `json:"sample,omitempty"`
	// SilentExpiry neither searches nor emits matches that end because an edge expires (DESIGN S20).
	SilentExpiry bool `json:"silent_expiry,omitempty"`
	// SilentChange leaves out a match that holds in both graphs of a batch: the pair of records that would say that its
	// values changed (DESIGN S15). Transitions of exists know no such pair.
	SilentChange bool `json:"silent_change,omitempty"`
	// Once drops positives of keys that had one a short time ago (DESIGN S27); nil drops none.
	Once *Once `json:"once,omitempty"`
	// Shadow queries are searched and counted, and emit nothing.
	Shadow bool `json:"shadow,omitempty"`

	// Source is the pattern's text as the user wrote it, for display; Language is "cypher" or "text".
	Source   string `json:"source,omitempty"`
	Language string `json:"language,omitempty"`
	// Origin says who registered the query: "config" or "api". Queries added by the API stay when the configuration
	// changes.
	Origin string `json:"origin,omitempty"`

	variant *variant // nil unless the query is a variant of one with paths
}

// ErrQuery is wrapped by every error that Validate returns.
var ErrQuery = errors.New("bad query")

func (q *Query) bad(format string, args ...any) error {
	return fmt.Errorf("%w %q: %s", ErrQuery, q.Name, fmt.Sprintf(format, args...))
}

// CheckPattern is the part of Validate that is about the query's name, vertices and edges alone.
func (q *Query) CheckPattern(directed bool) error {
	if err := checkName(q.Name); err != nil {
		return q.bad("its name %v", err)
	}
	if n := len(q.Vertices); n < MinVertices || n > MaxVertices {
		return q.bad("the pattern has %d vertices; a pattern has %d to %d", n, MinVertices, MaxVertices)
	}
	if n := len(q.Edges); n > MaxEdges {
		return q.bad("the pattern has %d edges; a pattern has at most %d", n, MaxEdges)
	}
	if err := q.checkPaths(); err != nil {
		return err
	}
	seen := make(map[string]bool, len(q.Vertices)+len(q.Edges))
	for i, v := range q.Vertices {
		if err := checkName(v.Name); err != nil {
			return q.bad("the name of vertex %d %v", i, err)
		}
		if seen[v.Name] {
			return q.bad("the name %q is used twice", v.Name)
		}
		seen[v.Name] = true
		if err := checkAlternatives(v.Label, v.AnyOf); err != nil {
			return q.bad("vertex %q %v", v.Name, err)
		}
	}
	for i, e := range q.Edges {
		if err := checkName(e.Name); err != nil {
			return q.bad("the name of edge %d %v", i, err)
		}
		if seen[e.Name] {
			return q.bad("the name %q is used twice", e.Name)
		}
		seen[e.Name] = true
		if err := checkAlternatives(e.Label, e.AnyOf); err != nil {
			return q.bad("edge %q %v", e.Name, err)
		}
		if e.From < 0 || e.From >= len(q.Vertices) || e.To < 0 || e.To >= len(q.Vertices) {
			return q.bad("edge %q has an end that is no vertex of the pattern", e.Name)
		}
		if e.From == e.To && e.Hops == nil {
			return q.bad("edge %q is a self-loop on %q; self-loops are not supported", e.Name, q.Vertices[e.From].Name)
		}
		if !directed && !e.Either {
			return q.bad("edge %q has a direction, but the graph is undirected: write -- instead of -> or <-", e.Name)
		}
	}
	if at := q.disconnected(); at >= 0 {
		return q.bad("vertex %q is not connected to %q; a pattern must be connected", q.Vertices[at].Name,
			q.Vertices[0].Name)
	}
	if q.HasPaths() { // its names and bounds are those of the longest paths
		return q.longest().CheckPattern(directed)
	}
	return nil
}

// Validate checks the query against the bounds of DESIGN S11 and for combinations that have no meaning. directed
// tells whether the graph is.
func (q *Query) Validate(directed bool) error {
	if q.Groups != nil {
		if err := q.validateGroups(directed); err != nil {
			return err
		}
	} else if err := q.CheckPattern(directed); err != nil {
		return err
	} else if err := q.checkConditions(); err != nil {
		return q.bad("%v", err)
	}
	if err := q.CheckNegations(directed); err != nil {
		return q.bad("%v", err)
	}
	if err := q.checkMatchMode(); err != nil {
		return err
	}
	switch {
	case q.IsVertex() && len(q.Conditions)+len(q.Negations) == 0:
		return q.bad("the pattern is one vertex, without a condition on it; give it one, or an edge")
	case q.IsVertex() && q.Within > 0:
		return q.bad("within is about the edges of a match; the pattern has none")
	}
	if q.Emit != EmitDeltas && (q.MaxMatches != 0 || q.ExactTotal) {
		return q.bad("max_matches_per_batch and exact_total go with emit: deltas")
	}
	if q.Emit != EmitDeltas && q.Sample > 1 {
		return q.bad("sample goes with emit: deltas")
	}
	if q.Emit == EmitExists && q.SilentExpiry {
		return q.bad("on_expiry: silent does not go with emit: exists, which tells when the last match ends")
	}
	if q.ExactTotal && q.MaxMatches == 0 {
		return q.bad("exact_total needs max_matches_per_batch")
	}
	return q.checkOnce()
}

// IsVertex reports whether the pattern is one vertex without edges (DESIGN S19).
func (q *Query) IsVertex() bool { return len(q.Edges) == 0 && q.Groups == nil }

// checkAlternatives checks that a demand for labels is in its one form.
func checkAlternatives(label string, anyOf []string) error {
	switch {
	case anyOf == nil:
	case label != "":
		return fmt.Errorf("has the label %s and alternatives; it has either", shown(label))
	case len(anyOf) < 2 || anyOf[0] == "" || !slices.IsSorted(anyOf) || len(slices.Compact(slices.Clone(anyOf))) <
		len(anyOf):
		return fmt.Errorf("has the alternatives %q; they are two labels at least, ascending and different", anyOf)
	}
	return nil
}

func checkName(s string) error {
	switch {
	case s == "":
		return errors.New("is empty")
	case len(s) > MaxNameLen:
		return fmt.Errorf("has %d bytes; at most %d are allowed", len(s), MaxNameLen)
	case !utf8.ValidString(s):
		return errors.New("is not valid UTF-8")
	}
	return nil
}

// CheckNewName returns nil, or why a query cannot be registered under this name. It is not part of Validate: queries
// that a checkpoint holds keep the names that they have.
func CheckNewName(name string) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w %q: its name %s; a name has 1 to %d bytes of UTF-8: letters, digits, spaces, "+
			"punctuation and "+
			"symbols, but no control or invisible character, no / and no \\, and no space at an end, and is neither "+
			". nor .. itself",
			ErrQuery, cut(name), fmt.Sprintf(format, args...), MaxNameLen)
	}
	if err := checkName(name); err != nil {
		return bad("%v", err)
	}
	for _, r := range name {
		// Decoders replace a lone surrogate, and bytes that are no UTF-8, by the replacement character.
		if r == '/' || r == '\\' || r == utf8.RuneError || !unicode.IsPrint(r) {
			return bad("has the character %U", r)
		}
	}
	switch {
	case name[0] == ' ' || name[len(name)-1] == ' ':
		return bad("has a space at an end")
	case name == "." || name == "..":
		return bad("is a directory's")
	}
	return nil
}

// cut shortens a name that is shown.
func cut(name string) string {
	const most = 64
	if len(name) > most {
		return name[:most] + "..."
	}
	return name
}

// disconnected returns a vertex that vertex 0 does not reach, or -1.
func (q *Query) disconnected() int {
	reached := make([]bool, len(q.Vertices))
	reached[0] = true
	for grown := true; grown; {
		grown = false
		for _, e := range q.Edges {
			if reached[e.From] != reached[e.To] {
				reached[e.From], reached[e.To], grown = true, true, true
			}
		}
	}
	for i, r := range reached {
		if !r {
			return i
		}
	}
	return -1
}

// String returns the unit as the configuration spells it.
func (u Unit) String() string {
	if u == Subgraphs {
		return "subgraphs"
	}
	return "embeddings"
}

// String returns the mode as the configuration spells it.
func (e Emit) String() string {
	switch e {
	case EmitCounts:
		return "counts"
	case EmitExists:
		return "exists"
	}
	return "deltas"
}

// String returns the mode as the configuration spells it.
func (b Backfill) String() string {
	if b == BackfillFull {
		return "full"
	}
	return "none"
}
