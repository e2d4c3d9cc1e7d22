package pattern

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"motifd/matcher"
	"motifd/matcher/condition"
)

// The languages, as Query.Language names them.
const (
	Cypher = "cypher"
	Text   = "text"
)

// MaxSource bounds the text of one pattern, in bytes.
const MaxSource = 1 << 20

// Options say what the text does not.
type Options struct {
	Name     string // of the query
	File     string // named in errors; may be empty
	Directed bool   // whether the graph is
	Declared Declared
	// OnePerLabel says that the graph keeps one edge of each source, target and label: pattern edges that compete for
	// one are refused.
	OnePerLabel bool
	MatchMode   matcher.MatchMode // of the query
}

// Error is a mistake in a pattern, or something that motifd does not support there. It wraps matcher.ErrQuery.
type Error struct {
	File         string // as the caller named it; may be empty
	Line, Column int    // from 1; the column counts characters
	Msg          string // what is wrong and what would be right
}

// Error returns "file:line:column: message".
func (e *Error) Error() string {
	if e.File == "" {
		return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Msg)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
}

// Unwrap returns matcher.ErrQuery.
func (e *Error) Unwrap() error { return matcher.ErrQuery }

// Parse reads a pattern in the named language, Cypher or Text. The query has its name, match mode, vertices, edges,
// conditions, fields, source and language set, nothing else, and has passed Query.Validate. A mistake in the pattern is
// an *Error.
func Parse(language string, src []byte, opt Options) (*matcher.Query, error) {
	switch language {
	case Cypher:
		r, err := ParseRule(src, opt, opt.Declared)
		if err != nil {
			return nil, err
		}
		return r.whole(opt)
	case Text:
		if len(opt.Declared.Parameters) > 0 && opt.Declared.Used == nil {
			return nil, fmt.Errorf("%w %q: parameters go with a Cypher pattern", matcher.ErrQuery, opt.Name)
		}
	default:
		return nil, fmt.Errorf(
			"%w: the pattern language %q is unknown; there are %q and %q",
			matcher.ErrQuery,
			language,
			Cypher,
			Text,
		)
	}
	b := newBuilder(opt)
	text, err := source(src, b)
	if err != nil {
		return nil, err
	}
	if err := parseText(text, b); err != nil {
		return nil, err
	}
	q, err := b.query()
	if err != nil {
		return nil, err
	}
	for i := range q.Vertices {
		if labels := q.Vertices[i].Labels(); labels != nil && opt.Declared.Schema.Several() {
			at := condition.Pos{Line: b.vertexAt[i].line, Col: b.vertexAt[i].col}
			q.Conditions = append(q.Conditions, condition.Labelled(i, labels, at))
			q.Vertices[i].Label = ""
		}
	}
	if err := b.checkVertex(q, len(q.Conditions)); err != nil {
		return nil, err
	}
	q.Source, q.Language = string(bytes.Clone(src)), language
	return q, nil
}

// source checks the text of a pattern, and takes off the byte order mark that some editors write.
func source(src []byte, b *builder) (string, error) {
	if len(src) > MaxSource {
		return "", b.fail(position{1, 1}, "the pattern has more than %d bytes", MaxSource)
	}
	text := strings.TrimPrefix(string(src), "\ufeff")
	if at, bad := invalidUTF8(text); bad {
		return "", b.fail(at, "the pattern is not valid UTF-8 here; save it as UTF-8")
	}
	return text, nil
}

// invalidUTF8 finds the first byte of s that is not valid UTF-8.
func invalidUTF8(s string) (position, bool) {
	if utf8.ValidString(s) {
		return position{}, false
	}
	at := position{1, 1}
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				break
			}
		}
		at.col++
		if r == '\n' {
			at = position{at.line + 1, 1}
		}
	}
	return at, true
}
