package pattern

import (
	"fmt"
	"regexp"
	"strings"

	"motifd/matcher"
	"motifd/matcher/condition"
)

var bareWord = regexp.MustCompile(`^(?:` + word + `)$`)

// Format prints the pattern of a valid query as Cypher, one path to a line, whatever language it was written in.
// Parsing the text again gives the same vertices and edges in the same order. A query with WITH is left as it is.
func Format(q *matcher.Query) string {
	if q.Groups != nil {
		return q.Source
	}
	f := &formatter{q: q, at: -1}
	for _, e := range q.Edges {
		f.edge(e)
	}
	return "MATCH " + f.b.String() + "\nRETURN *\n"
}

// formatter mentions the vertices in pattern order, since the first mention of a vertex gives it its number.
type formatter struct {
	q     *matcher.Query
	b     strings.Builder
	shown int // vertices mentioned so far: these are 0 to shown-1
	at    int // the last vertex of the path in hand, -1 for none
}

func (f *formatter) edge(e matcher.QueryEdge) {
	forth, back := f.fits(e.From, e.To), !e.Either && f.fits(e.To, e.From)
	backwards := back && (!forth || f.at == e.To && f.at != e.From)
	left, right := e.From, e.To
	if backwards {
		left, right = e.To, e.From
	}
	if !forth && !back {
		for f.shown < max(left, right) {
			f.start(f.shown)
		}
	}
	if f.at != left {
		f.start(left)
	}
	label := labelsText(e.Labels())
	tail, head := "-", "-"
	switch {
	case e.Either:
	case backwards:
		tail = "<-"
	default:
		head = "->"
	}
	if h := e.Hops; h != nil {
		label += fmt.Sprintf("*%d..%d", h.Least, h.Most)
	}
	f.b.WriteString(tail + "[" + quote(e.Name, true) + label + "]" + head)
	f.vertex(right)
}

// fits tells whether a path of these two keeps to the pattern order.
func (f *formatter) fits(left, right int) bool {
	return left <= f.shown && right <= max(f.shown, left+1)
}

// start begins a path.
func (f *formatter) start(v int) {
	if f.b.Len() > 0 {
		f.b.WriteString(",\n      ")
	}
	f.vertex(v)
}

// vertex writes a vertex, with its label when it is the first mention.
func (f *formatter) vertex(v int) {
	f.b.WriteString("(" + quote(f.q.Vertices[v].Name, true))
	if v == f.shown {
		f.shown++
		f.b.WriteString(labelsText(f.q.Vertices[v].Labels()))
	}
	f.b.WriteString(")")
	f.at = v
}

// labelsText prints a label, or alternatives, with the colon; nothing for none.
func labelsText(l condition.Labels) string {
	if l == nil {
		return ""
	}
	return ":" + l.Format(func(label string) string { return quote(label, false) })
}

// quote puts a name in backquotes where Cypher needs them. A variable cannot be a reserved word, a label can.
func quote(name string, variable bool) string {
	if bareWord.MatchString(name) && !(variable && isReserved(name)) {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}
