package pattern

import (
	"github.com/alecthomas/participle/v2/lexer"

	"motifd/matcher/condition"
)

// cypherLabels is a label expression as written: alternatives of labels that are there or absent.
type cypherLabels struct {
	pos          lexer.Position // of the first label
	alternatives [][]cypherLabel
}

type cypherLabel struct {
	absent bool
	name   *cypherName
}

// labels reads a label expression behind its colon: A, A|B, A&B, A:B, !A. The sign ! binds closest, | least.
func (p *parser) labels(edge bool) (*cypherLabels, error) {
	l := &cypherLabels{pos: p.token().Pos}
	for {
		alternative, err := p.alternative(edge)
		if err != nil {
			return nil, err
		}
		l.alternatives = append(l.alternatives, alternative)
		if p.token().Value != "|" {
			return l, nil
		}
		if !edge { // X|Y of an edge is older than label expressions
			if err := p.between(false); err != nil {
				return nil, err
			}
		}
		if p.next(); p.token().Value == ":" {
			return nil, p.fail(at(p.token().Pos), "a colon after | is not supported; write X|Y")
		}
	}
}

// alternative reads labels that hold together.
func (p *parser) alternative(edge bool) ([]cypherLabel, error) {
	var all []cypherLabel
	for {
		label := cypherLabel{}
		if p.token().Value == "!" {
			if err := p.between(false); err != nil {
				return nil, err
			}
			p.next()
			label.absent = true
		}
		if label.name = p.name(); label.name == nil {
			return nil, p.refuseLabel()
		}
		all = append(all, label)
		sign := p.token().Value
		if sign != "&" && sign != ":" {
			return all, nil
		}
		if sign == ":" && edge {
			return nil, p.fail(at(p.token().Pos), "an edge has one label; write X|Y for either")
		}
		if err := p.between(sign == ":"); err != nil {
			return nil, err
		}
		p.next()
	}
}

// between notes the sign at the token. Cypher allows either colons between labels or the signs &, | and !, within one
// MATCH.
func (p *parser) between(colon bool) error {
	if colon {
		p.colons = true
	} else {
		p.signs = true
	}
	if p.colons && p.signs {
		return p.fail(at(p.token().Pos), "a colon between labels goes with no &, | or ! in one MATCH; write &, as "+
			"in A&B")
	}
	return nil
}

// refuseLabel says what stands where a label should.
func (p *parser) refuseLabel() error {
	switch t := p.token(); {
	case t.Value == "(":
		return p.fail(at(t.Pos), "parentheses between labels are not supported; write the alternatives out, as in "+
			"A&B|A&C")
	case t.Value == "%":
		return p.fail(at(t.Pos), "%% (any label) is not supported; leave the label out, with its colon")
	case t.Value == "!":
		return p.fail(at(t.Pos), "!! is not supported; leave both out")
	}
	return p.unexpected()
}

// resolve returns the normal form.
func (l *cypherLabels) resolve(unquote func(*cypherName) (string, error)) (condition.Labels, error) {
	if l == nil {
		return nil, nil
	}
	var all []condition.Alternative
	for _, labels := range l.alternatives {
		var a condition.Alternative
		for _, label := range labels {
			name, err := unquote(label.name)
			if err != nil {
				return nil, err
			}
			if label.absent {
				a.None = append(a.None, name)
			} else {
				a.All = append(a.All, name)
			}
		}
		all = append(all, a)
	}
	return condition.NewLabels(all...), nil
}
