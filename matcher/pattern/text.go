package pattern

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"motifd/matcher"
)

// field is a word of a line.
type field struct {
	text string
	at   position
}

// fields splits a line at spaces and tabs.
func fields(line string, number int) []field {
	var out []field
	col := 1
	for line != "" {
		blank := len(line) - len(strings.TrimLeft(line, " \t"))
		line, col = line[blank:], col+blank
		n := strings.IndexAny(line, " \t")
		if n < 0 {
			n = len(line)
		}
		if n > 0 {
			out = append(out, field{line[:n], position{number, col}})
		}
		col += utf8.RuneCountInString(line[:n])
		line = line[n:]
	}
	return out
}

// textParser reads the papers' format. Edges are resolved when all lines are read, since an edge may stand before
// its vertices.
type textParser struct {
	*builder
	index  map[uint64]int // vertex id in the file -> pattern vertex
	lines  []textEdge     // the e lines so far
	header *textHeader
}

type textEdge struct {
	at    position
	ends  [2]uint64
	endAt [2]position
	label string
}

type textHeader struct {
	vertices, edges     uint64
	verticesAt, edgesAt position
}

func parseText(src string, b *builder) error {
	p := &textParser{builder: b, index: make(map[uint64]int)}
	number, before := 0, 0
	for line := range strings.Lines(src) {
		number++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		f := fields(line, number)
		if len(f) == 0 || f[0].text[0] == '#' || f[0].text[0] == '%' {
			continue
		}
		if err := p.line(f, before); err != nil {
			return err
		}
		before++
	}
	return p.resolve()
}

// line takes one line; before is how many went before it, comments and blank lines left out.
func (p *textParser) line(f []field, before int) error {
	switch f[0].text {
	case "v":
		return p.vertex(f)
	case "e":
		return p.edge(f)
	case "t":
		if before > 0 {
			return p.fail(f[0].at, "a t line inside the pattern; a header stands first, and a file holds one pattern")
		}
		return p.head(f)
	case "-e", "-v", "+e", "+v":
		return p.fail(f[0].at, "%s is an update of a stream; a pattern has v and e lines only", f[0].text)
	}
	return p.fail(
		f[0].at,
		"a line starts with %s; expected `v id label`, `e u v [label]`, `t vertices edges` or a comment with #",
		short(f[0].text),
	)
}

func (p *textParser) head(f []field) error {
	if len(f) != 3 {
		return p.fail(f[0].at, "a header is `t vertices edges`, but this one has %s", countOf(len(f), "field"))
	}
	n, err := p.number(f[1], "the number of vertices")
	if err != nil {
		return err
	}
	m, err := p.number(f[2], "the number of edges")
	if err != nil {
		return err
	}
	p.header = &textHeader{n, m, f[1].at, f[2].at}
	return nil
}

func (p *textParser) vertex(f []field) error {
	if len(f) < 2 || len(f) > 4 {
		return p.fail(
			f[0].at,
			"a vertex is `v id`, `v id label` or `v id label degree`, but this line has %s",
			countOf(len(f), "field"),
		)
	}
	id, err := p.number(f[1], "a vertex id")
	if err != nil {
		return err
	}
	label := ""
	if len(f) > 2 {
		label = f[2].text
	}
	if len(f) > 3 { // Derivable, and counted otherwise in some files: read, not compared.
		if _, err := p.number(f[3], "a degree"); err != nil {
			return err
		}
	}
	if at, ok := p.index[id]; ok {
		return p.fail(f[1].at, "vertex %d was declared on line %d; each id is declared once", id, p.vertexAt[at].line)
	}
	v, err := p.addVertex(f[0].at, "u"+strconv.FormatUint(id, 10), label)
	if err != nil {
		return err
	}
	p.index[id] = v
	return nil
}

func (p *textParser) edge(f []field) error {
	if len(f) < 3 || len(f) > 4 {
		return p.fail(f[0].at, "an edge is `e u v` or `e u v label`, but this line has %s", countOf(len(f), "field"))
	}
	if len(p.lines) == matcher.MaxEdges {
		return p.fail(
			f[0].at,
			"the pattern has more than %d edges; a pattern has at most %d",
			matcher.MaxEdges,
			matcher.MaxEdges,
		)
	}
	e := textEdge{at: f[0].at}
	for i := range e.ends {
		id, err := p.number(f[1+i], "a vertex id")
		if err != nil {
			return err
		}
		e.ends[i], e.endAt[i] = id, f[1+i].at
	}
	if len(f) == 4 {
		e.label = f[3].text
	}
	p.lines = append(p.lines, e)
	return nil
}

func (p *textParser) resolve() error {
	for i, e := range p.lines {
		var ends [2]int
		for k, id := range e.ends {
			v, ok := p.index[id]
			if !ok {
				return p.fail(e.endAt[k], "no v line declares vertex %d", id)
			}
			ends[k] = v
		}
		err := p.addEdge(e.at, matcher.QueryEdge{
			Name: "e" + strconv.Itoa(i), From: ends[0], To: ends[1], Label: e.label, Either: !p.opt.Directed,
		})
		if err != nil {
			return err
		}
	}
	if h := p.header; h != nil {
		if n := len(p.vertices); uint64(n) != h.vertices {
			return p.fail(h.verticesAt, "the header announces %d v lines, but the file has %d", h.vertices, n)
		}
		if n := len(p.lines); uint64(n) != h.edges {
			return p.fail(h.edgesAt, "the header announces %d e lines, but the file has %d", h.edges, n)
		}
	}
	return nil
}

func (p *textParser) number(f field, what string) (uint64, error) {
	n, err := strconv.ParseUint(f.text, 10, 64)
	if err != nil {
		return 0, p.fail(f.at, "%s is %s; expected a non-negative integer below 2^64", what, short(f.text))
	}
	return n, nil
}

func countOf(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
