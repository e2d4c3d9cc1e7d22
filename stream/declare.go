package stream

import (
	"context"
	"fmt"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
)

// The declared properties change at a start, in two parts. First the new properties are declared, so that the queries
// of the configuration can read them. Then the queries are changed. Then the properties go that the configuration no
// longer has. No query may read one of these by then: a start that would break this is refused before the first batch
// of the change. Each part takes as many batches as it needs: see dyngraph.Declaration.

// Declared returns what the graph declares once all changes are made, with the columns that it has then: s is the
// recovered state, and configured the later PipelineOptions.Schema.
func Declared(s *State, configured *property.Schema) *property.Schema {
	stored := s.Graph.Options().Schema
	for i := range s.Open {
		if d := s.Open[i].Declaration; d != nil {
			stored = d.Schema
		}
	}
	if both, ok := stored.With(configured); ok {
		stored = both
	}
	return stored.Redeclared(configured)
}

// declareNew finishes a change of the declared properties that was interrupted, and declares the new ones.
func (p *Pipeline) declareNew(drainCtx, abortCtx context.Context) error {
	if p.opt.Log != nil {
		return nil
	}
	now := p.opt.Engine.Graph().Options().Schema
	if d := p.declaration; d != nil && !d.Last() {
		if err := p.declare(drainCtx, abortCtx, now, d.To); err != nil {
			return err
		}
	}
	if p.opt.Schema == nil {
		return nil
	}
	return p.redeclare(drainCtx, abortCtx, withNew(now, p.opt.Schema))
}

// withNew returns the declarations that hold while the queries are changed: those of now, and the new ones.
func withNew(now, configured *property.Schema) *property.Schema {
	both, ok := now.With(configured)
	if !ok { // a property cannot be declared in both ways at once
		return now.Redeclared(configured)
	}
	return both
}

// checkDeclared checks both parts of a change of the declared properties, before a batch of it is made: the first
// against the registered queries, the second against those that are left after the configuration's changes.
func (p *Pipeline) checkDeclared(changes []*matcher.QueryChange) error {
	if p.opt.Log != nil || p.opt.Schema == nil {
		return nil
	}
	now := p.opt.Engine.Graph().Options().Schema
	if len(now.Differences(p.opt.Schema)) == 0 {
		return nil
	}
	err := p.opt.Engine.CheckDeclared(withNew(now, p.opt.Schema))
	if err == nil {
		err = p.opt.Engine.CheckDeclared(now.Redeclared(p.opt.Schema), changes...)
	}
	if err != nil {
		return fmt.Errorf("graph.properties: %w", err)
	}
	return nil
}

// declareAll makes the declarations exactly those of the configuration.
func (p *Pipeline) declareAll(drainCtx, abortCtx context.Context) error {
	if p.opt.Log != nil || p.opt.Schema == nil {
		return nil
	}
	return p.redeclare(drainCtx, abortCtx, p.opt.Engine.Graph().Options().Schema.Redeclared(p.opt.Schema))
}

// redeclare changes the declarations to a schema's, if they differ.
func (p *Pipeline) redeclare(drainCtx, abortCtx context.Context, to *property.Schema) error {
	if len(p.opt.Engine.Graph().Options().Schema.Differences(to)) == 0 {
		return nil
	}
	if err := p.opt.Engine.CheckDeclared(to); err != nil { // checkDeclared has refused it before
		return fmt.Errorf("graph.properties: %w", err)
	}
	return p.declare(drainCtx, abortCtx, to, 0)
}

// declare makes the batches that change the graph to a schema's declarations, from a vertex on.
func (p *Pipeline) declare(drainCtx, abortCtx context.Context, to *property.Schema, from dyngraph.VertexID) error {
	for drainCtx.Err() == nil {
		d := p.opt.Engine.Graph().PlanDeclaration(to, from, p.opt.DeclareStep)
		b := &Batch{}
		b.Declaration = d
		if err := p.newBatch(abortCtx, b, origin{}); err != nil {
			return err
		}
		if d.Last() {
			return nil
		}
		from = d.To
	}
	return nil
}
