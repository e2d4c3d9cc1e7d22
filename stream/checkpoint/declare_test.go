package checkpoint

import (
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher/matchertest"
	"motifd/stream"
)

// declare makes a batch of the next step of a change of the declared properties, or of the first one, and returns the
// step if it is not the last.
func (h *history) declare(rng *rand.Rand, g *dyngraph.Graph, before *dyngraph.Declaration, b *stream.Batch,
	info *stream.CommitInfo) *dyngraph.Declaration {
	schema, from := g.Options().Schema, dyngraph.VertexID(0)
	if before != nil {
		from = before.To
	} else {
		schema = schema.Redeclared(randomSchema(rng, h.schema))
	}
	b.Declaration = g.PlanDeclaration(schema, from, 1+rng.IntN(20))
	info.Declaration = b.Declaration
	if info.Report == nil {
		info.Report = &stream.BatchReport{Batch: b.Number}
	}
	info.Report.Properties = &stream.DeclaredReport{Edges: property.Declarations{}, Vertices: property.Declarations{},
		Changed: rng.IntN(9), Last: b.Declaration.Last()}
	if b.Declaration.Last() {
		return nil
	}
	return b.Declaration
}

// declaredOf returns the log's record of a batch that changes declarations, beside its effect.
func declaredOf(c *stream.CommitInfo) *declaredBefore {
	if c.Declaration == nil {
		return nil
	}
	return &declaredBefore{Schema: testSchema, Step: c.Declaration, Report: c.Report.Properties}
}

// stageBatch stages a batch: updates, or a step of a change of the declared properties.
func stageBatch(g *dyngraph.Graph, b *stream.Batch) {
	if b.Declaration == nil {
		mustStage(g, b.Updates)
	} else if _, err := g.StageDeclaration(b.Declaration); err != nil {
		panic(err)
	}
}

// stageLogged stages a batch of the log as the engine does.
func stageLogged(g *dyngraph.Graph, b *stream.Batch) {
	if b.Declaration == nil && b.Change == nil {
		g.ExpireIsolated(b.Isolated)
	}
	stageBatch(g, b)
}

// randomSchema returns a schema with some properties left out, and some of other types; nil stands for testSchema.
func randomSchema(rng *rand.Rand, of *property.Schema) *property.Schema {
	if of == nil {
		of = testSchema
	}
	change := func(all property.Declarations) property.Declarations {
		out := property.Declarations{}
		for _, label := range []string{"A", "B", "T", "U", property.Any} {
			for _, name := range []string{"amount", "blocked", "flag", "name", "note", "risk", "seen", "share", "ts"} {
				t, ok := all[label][name]
				if !ok || rng.IntN(3) == 0 {
					continue
				}
				if name != property.TimeName && rng.IntN(4) == 0 {
					t = []property.Type{{Kind: property.Int64}, {Kind: property.Decimal, Scale: 2},
						{Kind: property.String}, {Kind: property.Float64}}[rng.IntN(4)]
				}
				if out[label] == nil {
					out[label] = map[string]property.Type{}
				}
				out[label][name] = t
			}
		}
		if len(out) == 0 {
			return nil // as JSON has it
		}
		return out
	}
	return &property.Schema{Edges: change(of.Edges), Vertices: change(of.Vertices), SeveralLabels: of.SeveralLabels}
}

// TestS23DeclarationsAreInTheLog plays histories in which the declared properties change, step by step: what is stored
// fits together, and the log leads back over the changes to each graph that there was.
func TestS23DeclarationsAreInTheLog(t *testing.T) {
	matchertest.NotUnderRace(t, "TestCrashAtEveryWrite has the same goroutines")
	steps, unfinished, changed := 0, 0, 0
	for seed := uint64(0); steps < 60; seed++ {
		h := newHistory(newRand(900+seed), 12, seed%2 == 0)
		opt := testOptions(h, vfs.NewMem())
		s, err := Open(testDir, opt)
		require.NoError(t, err)
		for _, st := range h.steps {
			require.NoError(t, st.do(s), "seed %d: %s", seed, st.name)
		}
		require.NoError(t, s.Close())
		requireSame(t, h.steps[len(h.steps)-1].after, recovered(t, opt), "seed", seed)
		requireSound(t, opt.FS)
		r, err := OpenReplay(testDir, opt.FS)
		require.NoError(t, err)
		base, err := r.Base(t.Context())
		require.NoError(t, err)
		require.Equal(t, h.schema, base.Graph.Options().Schema, "seed %d", seed)
		memory := randomMemory(r.past.once)
		for l, err := range r.Batches() {
			require.NoError(t, err)
			stageLogged(base.Graph, &l.Batch)
			if d := l.Declaration; d != nil {
				require.Equal(t, h.infos[l.Number-1].Report.Properties, l.Report.Properties)
				steps++
				if !d.Last() {
					unfinished++
				}
				e := base.Graph.Effect()
				changed += len(e.Renewed) + len(e.Revised)
			}
			base.Graph.Commit()
			if qs := h.infos[l.Number-1].Queries; qs != nil {
				base.Queries = qs
			}
			memory.apply(h.infos[l.Number-1].Once)
			base.Queries = memory.with(base.Queries)
			requireSame(t, h.graphs[l.Number], dumpContent(base.Graph, l.Positions, base.Queries),
				"seed", seed, l.Number)
		}
		require.NoError(t, r.Close())
	}
	require.Greater(t, unfinished, 10)
	require.Greater(t, changed, 200)
}
