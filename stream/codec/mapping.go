package codec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Mapping says which column of a CSV record, or which constant, each field of an update is. ParseMapping makes it.
type Mapping struct {
	text    string
	columns [mapCount]column
	// A record whose vertex column holds vertexValue is an operation on a vertex.
	vertexValue string
	props       []propColumn
}

type columnKind uint8

const (
	columnNone columnKind = iota
	columnName
	columnNumber
	columnConstant
)

// column is the source of a field.
type column struct {
	kind   columnKind
	text   string // the name or the constant
	number int    // from 0
}

type propColumn struct {
	name string
	column
}

// What a mapping can set, besides props.
const (
	mapFrom = iota
	mapTo
	mapLabel
	mapFromLabel
	mapToLabel
	mapID
	mapTS
	mapOp
	mapKey
	mapKeyLabel
	mapVertex
	mapCount
)

var mapNames = []string{"from", "to", "label", "from_label", "to_label", "id", "ts", "op", "key", "key_label", "vertex"}

// ParseMapping reads a column mapping: items FIELD=WHERE with commas between them. FIELD is from, to, label,
// from_label, to_label, id, ts, op, key, key_label or prop.NAME; WHERE is a column by name, by name in double quotes,
// or by number (#1 is the first), or a constant in single quotes; a quote inside quotes is doubled. The item
// vertex=WHERE:VALUE makes records whose column holds VALUE operations on the vertex key, labelled key_label; key and
// key_label default to what from and from_label are. Without op every record is an insertion.
func ParseMapping(text string) (*Mapping, error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("column mapping %q is not valid UTF-8", text)
	}
	m := &Mapping{text: text}
	p := mappingParser{text: text}
	for {
		if err := p.item(m); err != nil {
			return nil, fmt.Errorf("column mapping %q, at character %d: %w", text,
				utf8.RuneCountInString(text[:p.at])+1, err)
		}
		if p.i >= len(text) {
			break
		}
		p.i++ // the comma
	}
	if err := m.complete(); err != nil {
		return nil, fmt.Errorf("column mapping %q: %w", text, err)
	}
	return m, nil
}

// String returns the text that the mapping was made of.
func (m *Mapping) String() string { return m.text }

type mappingParser struct {
	text string
	i    int // next byte
	at   int // where what an error is about begins
}

func (p *mappingParser) spaces() {
	for p.i < len(p.text) && (p.text[p.i] == ' ' || p.text[p.i] == '\t') {
		p.i++
	}
}

// item reads FIELD=WHERE up to the comma or the end.
func (p *mappingParser) item(m *Mapping) error {
	p.spaces()
	p.at = p.i
	n := strings.IndexAny(p.text[p.i:], "=,")
	if n < 0 || p.text[p.i+n] == ',' {
		return fmt.Errorf("FIELD=COLUMN was expected, as in from=source")
	}
	field := strings.TrimSpace(p.text[p.i : p.i+n])
	p.i += n + 1
	name, isProp := strings.CutPrefix(field, "prop.")
	f := slices.Index(mapNames, field)
	switch {
	case isProp && name == "":
		return fmt.Errorf("prop. needs a name, as in prop.amount=value")
	case isProp && slices.ContainsFunc(m.props, func(c propColumn) bool { return c.name == name }):
		return fmt.Errorf("the property %q is set twice", name)
	case isProp:
	case f < 0:
		if c := nearest(field, mapNames); c != "" {
			return fmt.Errorf("the field %q is unknown; did you mean %q?", field, c)
		}
		return fmt.Errorf("the field %q is unknown; a mapping sets %s and prop.NAME", field,
			strings.Join(mapNames, ", "))
	case m.columns[f].kind != columnNone:
		return fmt.Errorf("the field %q is set twice", field)
	}
	p.spaces()
	p.at = p.i
	c, err := p.column(f == mapVertex)
	if err != nil {
		return err
	}
	if f == mapVertex {
		if m.vertexValue, err = p.vertexValue(c); err != nil {
			return err
		}
	}
	p.spaces()
	if p.i < len(p.text) && p.text[p.i] != ',' {
		p.at = p.i
		return fmt.Errorf("found %q where a comma or the end was expected", p.text[p.i:])
	}
	if isProp {
		m.props = append(m.props, propColumn{name, c})
		return nil
	}
	p.at = p.i
	m.columns[f] = c
	return nil
}

// column reads WHERE; a colon ends a bare name if one must follow.
func (p *mappingParser) column(colon bool) (column, error) {
	if p.i >= len(p.text) {
		return column{}, fmt.Errorf("a column was expected: a name, a number as in #1, or a constant as in 'x'")
	}
	switch q := p.text[p.i]; q {
	case '\'', '"':
		text, err := p.quoted(q)
		if err != nil {
			return column{}, err
		}
		if q == '\'' {
			return column{kind: columnConstant, text: text}, nil
		}
		return column{kind: columnName, text: text}, nil
	}
	ends := ","
	if colon {
		ends = ",:"
	}
	n := strings.IndexAny(p.text[p.i:], ends)
	if n < 0 {
		n = len(p.text) - p.i
	}
	text := strings.TrimSpace(p.text[p.i : p.i+n])
	p.i += n
	if text == "" {
		return column{}, fmt.Errorf("a column was expected: a name, a number as in #1, or a constant as in 'x'")
	}
	if digits, ok := strings.CutPrefix(text, "#"); ok {
		number, err := strconv.Atoi(digits)
		if err != nil || number < 1 || number > maxColumns {
			return column{}, fmt.Errorf(
				"the column number %q is none; the first column is #1, and a column of that name is written \"%s\"",
				text,
				text,
			)
		}
		return column{kind: columnNumber, number: number - 1}, nil
	}
	return column{kind: columnName, text: text}, nil
}

// quoted reads text in quotes; a quote inside is doubled.
func (p *mappingParser) quoted(q byte) (string, error) {
	var out []byte
	for p.i++; p.i < len(p.text); p.i++ {
		if p.text[p.i] != q {
			out = append(out, p.text[p.i])
			continue
		}
		if p.i+1 >= len(p.text) || p.text[p.i+1] != q {
			p.i++
			return string(out), nil
		}
		p.i++
		out = append(out, q)
	}
	return "", fmt.Errorf("the quote is not closed; a quote inside quotes is doubled")
}

func (p *mappingParser) vertexValue(c column) (string, error) {
	if c.kind == columnConstant {
		return "", fmt.Errorf("vertex needs a column; for vertex operations alone set op='+v' or op='-v'")
	}
	p.spaces()
	if p.i >= len(p.text) || p.text[p.i] != ':' {
		return "", fmt.Errorf("vertex=COLUMN:VALUE was expected, as in vertex=kind:account")
	}
	p.i++
	p.spaces()
	v, err := p.column(false)
	if err != nil {
		return "", fmt.Errorf("vertex=COLUMN:VALUE needs a value, as in vertex=kind:account (quote it when it has " +
			"commas)")
	}
	if v.kind == columnNumber {
		return "#" + strconv.Itoa(v.number+1), nil
	}
	return v.text, nil
}

// complete checks what the items say together.
func (m *Mapping) complete() error {
	has := func(f int) bool { return m.columns[f].kind != columnNone }
	op := m.columns[mapOp]
	vertices := has(mapVertex)
	if op.kind == columnConstant {
		switch op.text {
		case "+v", "-v":
			vertices = true
			if has(mapVertex) {
				return fmt.Errorf("op=%s makes every record a vertex operation; remove vertex", "'"+op.text+"'")
			}
			if !has(mapKey) && !has(mapFrom) {
				return fmt.Errorf("the vertex's key is missing; set key=COLUMN")
			}
			return nil
		case "+", "-":
		default:
			return fmt.Errorf("the constant op %q is unknown; it is '+', '-', '+v' or '-v'", op.text)
		}
	}
	if op.kind == columnNone || op.kind == columnConstant || !has(mapKey) {
		for _, f := range []int{mapFrom, mapTo} {
			if !has(f) {
				return fmt.Errorf("%s is missing; set %s=COLUMN", mapNames[f], mapNames[f])
			}
		}
	}
	if ts := m.columns[mapTS]; ts.kind == columnConstant {
		if _, err := strconv.ParseInt(ts.text, 10, 64); err != nil {
			return fmt.Errorf("the constant ts %q is not a whole number of milliseconds", ts.text)
		}
	}
	if !vertices && op.kind != columnName && op.kind != columnNumber && (has(mapKey) || has(mapKeyLabel)) {
		return fmt.Errorf(
			"key and key_label are of vertex operations, and no record would be one; set op=COLUMN or " +
				"vertex=COLUMN:VALUE",
		)
	}
	return nil
}
