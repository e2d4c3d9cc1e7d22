package matcher

import (
	"errors"
	"fmt"

	"motifd/dyngraph/property"
)

// ErrDeclared is wrapped by the error of declarations that do not have what a registered query reads.
var ErrDeclared = errors.New("a registered query reads a property that would not be declared as it is now")

// CheckDeclared checks that all that the queries read is declared, with the same type, by a schema that extends that of
// the graph (DESIGN S23). The queries are those that are registered once the changes are made. Suspended queries count:
// they can be resumed.
func (e *Engine) CheckDeclared(s *property.Schema, changes ...*QueryChange) error {
	if err := s.Extends(e.g.Options().Schema); err != nil {
		return err
	}
	d := declaration{s, s.EdgeColumns(), s.VertexColumns()}
	changed := make(map[string]bool)
	var left []*Query
	for _, ch := range changes {
		changed[ch.Remove] = true
		if ch.Add != nil {
			changed[ch.Add.Name] = true
			left = append(left, ch.Add)
		}
	}
	for _, r := range e.Queries() {
		if !r.Removed && !changed[r.Query.Name] {
			left = append(left, r.Query)
		}
	}
	for _, q := range left {
		if err := q.eachWhole(func(q *Query) error { return q.reads(d) }); err != nil {
			return fmt.Errorf("%w: %w; remove or change the query first, with the property declared as it was",
				ErrDeclared, err)
		}
	}
	return nil
}

// declare steps over a batch that is a step of a change of the declared properties. No match begins or ends.
func (s *stepper) declare() (err error) {
	e := s.e
	if s.d, err = e.g.StageDeclaration(s.b.Declaration); err != nil {
		return fmt.Errorf("staging: %w", err)
	}
	staged := false
	defer func() {
		if err == nil {
			return
		}
		if staged {
			if aerr := e.opt.Backend.Abort(); aerr != nil {
				err = fmt.Errorf("%w; then undoing: %w", err, aerr)
			}
		}
		e.g.Abort()
	}()
	if err := e.opt.Backend.Stage(s.d); err != nil {
		return fmt.Errorf("staging in backend %s: %w", e.opt.Backend.Name(), err)
	}
	staged = true
	if err := s.settled(nil); err != nil {
		return err
	}
	if err := e.opt.Backend.Commit(); err != nil {
		return fmt.Errorf("committing in backend %s: %w", e.opt.Backend.Name(), err)
	}
	staged = false
	s.sum.Effect = e.g.Effect()
	s.sum.Redeclared = len(s.sum.Effect.Renewed) + len(s.sum.Effect.Revised)
	e.g.Commit()
	// No query is registered before the last step. What the backend keeps of queries that are gone may rest on values
	// that have changed.
	e.outdated = e.outdated || s.b.Declaration.Last()
	return nil
}
