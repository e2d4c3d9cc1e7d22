package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/pattern"
)

// BuildQueries parses the queries of the configuration, sorted by name. The error is an Errors.
func (c *Config) BuildQueries() ([]*matcher.Query, error) {
	v := &validator{c: c}
	if c.src == nil {
		c.src = newSources()
	}
	_, gone := os.Stat(c.Checkpoint.Dir)
	anew := errors.Is(gone, fs.ErrNotExist)
	taken := make(map[string]string) // query name -> what named it
	var out []*matcher.Query
	add := func(q *matcher.Query, path, from string) {
		if first, ok := taken[q.Name]; ok {
			v.fail(path, "the query name %q is taken by %s; names are unique", q.Name, first)
			return
		}
		q.Origin = "config"
		if err := matcher.CheckNewName(q.Name); err != nil {
			if anew {
				v.fail(path, "%v", err)
				return
			}
			v.warn(path, "%v; the query is refused unless the checkpoint holds one of this name", err)
		}
		if err := q.CheckCompeting(c.Graph.Directed); err != nil && !c.Graph.EdgeIDs() {
			v.warn(path, "%v; the query is refused unless the checkpoint holds it", err)
		}
		// Edges that compete are warned of above, and labels depend on the graph.
		always := matcher.Warnings(q, dyngraph.Options{EdgeIDs: true}, nil)
		for _, text := range append(always, c.Graph.RetentionWarnings(q)...) {
			v.warn(path, "%s", text)
		}
		taken[q.Name] = from
		out = append(out, q)
	}
	opt := pattern.Options{Directed: c.Graph.Directed, Declared: pattern.Declared{Schema: c.Graph.Schema()},
		OnePerLabel: anew && !c.Graph.EdgeIDs()}
	for i := range c.Queries {
		path := fmt.Sprintf("queries[%d]", i)
		if q, err := c.Queries[i].build(opt, c.Output.Mode); err != nil {
			v.query(path, &c.Queries[i], err)
		} else {
			add(q, path, path)
		}
	}
	if c.QueriesDir != "" {
		queries, err := pattern.Load(c.QueriesDir, opt)
		if info, statErr := os.Stat(c.QueriesDir); statErr == nil && !info.IsDir() {
			err = fmt.Errorf("%s is not a directory; name single files under queries", c.QueriesDir)
		}
		if err != nil {
			v.fail("queries_dir", "%v", err)
		}
		for _, q := range queries {
			q.Backfill, q.SilentChange = defaultBackfill(c.Output.Mode), defaultSilent(c.Output.Mode, q)
			add(q, "queries_dir", "queries_dir")
		}
	}
	slices.SortFunc(out, func(a, b *matcher.Query) int { return strings.Compare(a.Name, b.Name) })
	return out, v.errs.or()
}

// defaultBackfill returns the backfill of a query that sets none. Upsert mode has no other choice than full.
func defaultBackfill(mode string) matcher.Backfill {
	if mode == "upsert" {
		return matcher.BackfillFull
	}
	return matcher.BackfillNone
}

// defaultSilent reports whether on_change is silent where nothing is said: with WITH, except in upsert mode, where the
// topic holds the values of now.
func defaultSilent(mode string, q *matcher.Query) bool { return q.Groups != nil && mode != "upsert" }

// checkMode refuses a query that does not go with the output mode (DESIGN S12).
func checkMode(mode string, q *matcher.Query) error {
	if mode == "upsert" && (q.Emit != matcher.EmitDeltas || q.Backfill != matcher.BackfillFull || q.MaxMatches != 0) {
		return fmt.Errorf("%w %q: output.mode: upsert goes with emit: deltas, backfill: full and no "+
			"max_matches_per_batch, "+
			"so that the topic always holds the current matches", matcher.ErrQuery, q.Name)
	}
	if mode == "upsert" && q.Once != nil {
		return fmt.Errorf("%w %q: output.mode: upsert does not go with once, since matches that have ended would stay "+
			"in the topic", matcher.ErrQuery, q.Name)
	}
	if mode == "upsert" && q.SilentExpiry {
		return fmt.Errorf("%w %q: output.mode: upsert does not go with on_expiry: silent, since matches that have "+
			"ended would stay in the topic; write emit", matcher.ErrQuery, q.Name)
	}
	if mode == "upsert" && q.SilentChange {
		return fmt.Errorf("%w %q: output.mode: upsert does not go with on_change: silent, since the topic would keep "+
			"old values; write emit", matcher.ErrQuery, q.Name)
	}
	return nil
}

// query reports a mistake in a query, at its place in the configuration file where an inline pattern stands there.
func (v *validator) query(path string, q *Query, err error) {
	var at *pattern.Error
	inline := map[bool]string{true: ".cypher", false: ".text"}[q.Cypher != ""]
	if !errors.As(err, &at) || q.File != "" {
		v.fail(path, "%v", err)
		return
	}
	where := v.c.src.where(path + inline)
	if n, ok := v.c.src.nodes[path+inline]; ok {
		where = insideScalar(where, n, at.Line, at.Column)
	}
	v.errs = append(v.errs, &Error{where, path + inline, at.Msg})
}

// insideScalar moves a place "file:line:column" of a YAML scalar to a line and column of its text.
func insideScalar(where string, n ast.Node, line, column int) string {
	t := n.GetToken()
	file := strings.TrimSuffix(where, fmt.Sprintf(":%d:%d", t.Position.Line, t.Position.Column))
	if lit, ok := n.(*ast.LiteralNode); ok { // | or >: the text starts on the next line, indented
		indent := 0
		origin := lit.Value.GetToken().Origin
		for l := range strings.Lines(origin) {
			if trimmed := strings.TrimLeft(l, " "); strings.TrimSpace(trimmed) != "" {
				indent = len(l) - len(trimmed)
				break
			}
		}
		return fmt.Sprintf("%s:%d:%d", file, t.Position.Line+line, indent+column)
	}
	if line > 1 { // a quoted or folded scalar: YAML has changed its lines
		return where
	}
	if t.Value != "" && strings.HasPrefix(strings.TrimSpace(t.Origin), `"`) ||
		strings.HasPrefix(strings.TrimSpace(t.Origin), "'") {
		column++
	}
	return fmt.Sprintf("%s:%d:%d", file, t.Position.Line, t.Position.Column+column-1)
}

// Build parses the query, for a graph that is directed or not and declares properties, nil for none, and the output
// mode, which may be empty. What the query leaves out has the same default whether it comes from the configuration or
// from the API. A mistake in the pattern is a *pattern.Error.
func (q *Query) Build(directed bool, mode string, schema *property.Schema) (*matcher.Query, error) {
	return q.build(pattern.Options{Directed: directed, Declared: pattern.Declared{Schema: schema}}, mode)
}

// build is Build with the options of the pattern, but for its name and its parameters.
func (q *Query) build(opt pattern.Options, mode string) (*matcher.Query, error) {
	emit, err := choose("emit", cmp.Or(q.Emit, "deltas"), emits)
	if err != nil {
		return nil, err
	}
	unit, err := choose("unit", cmp.Or(q.Unit, "embeddings"), units)
	if err != nil {
		return nil, err
	}
	backfill, err := choose("backfill", cmp.Or(q.Backfill, BackfillName(defaultBackfill(mode))), backfills)
	if err != nil {
		return nil, err
	}
	over, err := choose("over_budget", cmp.Or(q.OverBudget, "skip"), overBudgets)
	if err != nil {
		return nil, err
	}
	silentExpiry, err := choose("on_expiry", cmp.Or(q.OnExpiry, "emit"), silences)
	if err != nil {
		return nil, err
	}
	silentChange, err := choose("on_change", cmp.Or(q.OnChange, "emit"), silences)
	if err != nil {
		return nil, err
	}
	shadow, err := choose("mode", cmp.Or(q.Mode, "live"), modes)
	if err != nil {
		return nil, err
	}
	if opt.MatchMode, err = ParseMatchMode(cmp.Or(q.MatchMode, "isomorphism")); err != nil {
		return nil, err
	}
	built, err := q.parse(opt)
	if err != nil {
		return nil, err
	}
	if q.Name != "" {
		built.Name = q.Name
	}
	built.Emit, built.Unit, built.Backfill = emit, unit, backfill
	built.MaxMatches, built.ExactTotal, built.WorkBudget = q.MaxMatchesPerBatch, q.ExactTotal, q.WorkBudget
	built.OverBudget, built.Sample, built.Shadow = over, q.Sample, shadow
	built.Within, built.SilentExpiry = int64(q.Within), silentExpiry
	if o := q.Once; o != nil {
		if err := built.SetOnce(o.Per, int64(o.For), o.MaxKeys); err != nil {
			return nil, err
		}
	}
	built.SilentChange = silentChange || q.OnChange == "" && defaultSilent(mode, built)
	if err := built.Validate(opt.Directed); err != nil {
		return nil, err
	}
	if err := built.Timed(opt.Declared.Schema.EdgeDeclarations()); err != nil {
		return nil, err
	}
	return built, checkMode(mode, built)
}

func (q *Query) parse(opt pattern.Options) (*matcher.Query, error) {
	opt.Name, opt.Declared = q.Name, Declared(opt.Declared.Schema, q.Params)
	given := 0
	for _, s := range []string{q.File, q.Cypher, q.Text} {
		if s != "" {
			given++
		}
	}
	switch {
	case given != 1:
		return nil, fmt.Errorf("%w: exactly one of file, cypher and text gives the pattern", matcher.ErrQuery)
	case q.File != "":
		return pattern.ParseFile(q.File, opt)
	case q.Name == "":
		return nil, fmt.Errorf("%w: name is missing; an inline pattern needs one", matcher.ErrQuery)
	case q.Cypher != "":
		return pattern.Parse(pattern.Cypher, []byte(q.Cypher), opt)
	}
	return pattern.Parse(pattern.Text, []byte(q.Text), opt)
}

var (
	emits = map[string]matcher.Emit{
		"deltas": matcher.EmitDeltas,
		"counts": matcher.EmitCounts,
		"exists": matcher.EmitExists,
	}
	units = map[string]matcher.Unit{"embeddings": matcher.Embeddings, "subgraphs": matcher.Subgraphs}

	matchModes = map[string]matcher.MatchMode{
		"isomorphism":  matcher.Isomorphism,
		"homomorphism": matcher.Homomorphism,
		"trail":        matcher.Trail,
	}

	overBudgets = map[string]matcher.OverBudget{"skip": matcher.SkipGroup, "suspend": matcher.SuspendQuery}
	modes       = map[string]bool{"live": false, "shadow": true}
	silences    = map[string]bool{"emit": false, "silent": true}
	backfills   = map[string]matcher.Backfill{"none": matcher.BackfillNone, "full": matcher.BackfillFull}
)

// ParseEmit reads the name of an emit mode.
func ParseEmit(name string) (matcher.Emit, error) { return choose("emit", name, emits) }

// ParseMatchMode reads the name of a match mode.
func ParseMatchMode(name string) (matcher.MatchMode, error) {
	return choose("match_mode", name, matchModes)
}

// ParseOverBudget reads what becomes of a query beyond a limit.
func ParseOverBudget(name string) (matcher.OverBudget, error) {
	return choose("over_budget", name, overBudgets)
}

// EmitName names an emit mode.
func EmitName(e matcher.Emit) string { return nameOf(e, emits) }

// UnitName names a unit.
func UnitName(u matcher.Unit) string { return nameOf(u, units) }

// BackfillName names a backfill mode.
func BackfillName(b matcher.Backfill) string { return nameOf(b, backfills) }

func nameOf[T comparable](v T, choices map[string]T) string {
	for name, c := range choices {
		if c == v {
			return name
		}
	}
	return fmt.Sprintf("unknown (%v)", v)
}

func choose[T any](what, name string, choices map[string]T) (T, error) {
	if v, ok := choices[name]; ok {
		return v, nil
	}
	names := make([]string, 0, len(choices))
	for k := range choices {
		names = append(names, k)
	}
	var none T
	return none, fmt.Errorf("%s: %s", what, unknown("choice", name, names))
}

// SilentName names a choice of on_expiry and on_change: what becomes of matches whose edges expire, and of those that
// hold before and after a change.
func SilentName(silent bool) string { return nameOf(silent, silences) }

// ModeName names whether a query is live or a shadow.
func ModeName(shadow bool) string { return nameOf(shadow, modes) }
