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

// labels reads a label expression behind its colon: A, A|B, A&B, A:B, !A. The sign ! binds closest, | least. As in
// Cypher the colon between labels goes with no other sign.
func (p *parser) labels(edge bool) (*cypherLabels, error) {
	first := p.tokens[p.i]
	l := &cypherLabels{pos: first.Pos}
	var colon, signs bool
	mixed := func() error {
		return p.fail(at(p.token().Pos), "a colon between labels goes with no &, | or !; write &, as in A&!B")
	}
	for more := true; more; more = p.full && p.accept("|") {
		if len(l.alternatives) > 0 {
			if signs = true; colon {
				return nil, mixed()
			}
			if p.token().Value == ":" {
				return nil, p.fail(at(p.token().Pos), "a colon after | is not supported; write X|Y")
			}
		}
		var alternative []cypherLabel
		for more := true; more; {
			label := cypherLabel{absent: p.full && p.accept("!")}
			if signs = signs || label.absent; signs && colon {
				return nil, mixed()
			}
			if label.name = p.name(); label.name == nil {
				return nil, p.refuseLabel()
			}
			alternative = append(alternative, label)
			switch more = p.full && (p.token().Value == "&" || p.token().Value == ":"); {
			case !more:
			case p.token().Value == "&" && !colon:
				signs = true
				p.next()
			case p.token().Value == ":" && edge:
				return nil, p.fail(at(p.token().Pos), "an edge has one label; write X|Y for either")
			case p.token().Value == ":" && !signs:
				colon = true
				p.next()
			default:
				return nil, mixed()
			}
		}
		l.alternatives = append(l.alternatives, alternative)
	}
	return l, nil
}

// refuseLabel says what stands where a label should.
func (p *parser) refuseLabel() error {
	switch t := p.token(); {
	case !p.full:
	case t.Value == "(":
		return p.fail(at(t.Pos), "parentheses between labels are not supported; write the alternatives out, as in A&B|A&C")
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
