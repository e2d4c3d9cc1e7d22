package condition

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"motifd/dyngraph/property"
)

// format prints a term as Cypher, with every operation inside another in parentheses. name prints what it reads.
func (t *term) format(name func(Slot) string) string {
	part := func(i int) string {
		a := t.args[i]
		text := a.format(name)
		if len(a.args) > 0 && a.code != isTrue {
			return "(" + text + ")"
		}
		return text
	}
	switch t.code {
	case constant:
		if t.span {
			return "duration('" + FormatDuration(t.value.Whole()) + "')"
		}
		return literal(t.value)
	case read:
		return name(t.slot)
	case neg:
		return "-" + part(0)
	case add:
		return part(0) + " + " + part(1)
	case sub:
		return part(0) + " - " + part(1)
	case mul:
		return part(0) + " * " + part(1)
	case isTrue:
		return part(0)
	case truth:
		return map[Truth]string{False: "false", Unknown: "null", True: "true"}[t.truth]
	case compare:
		return part(0) + " " + t.relation.String() + " " + part(1)
	case in:
		return part(0) + " IN " + t.members.format()
	case startsWith:
		return part(0) + " STARTS WITH " + part(1)
	case isNull:
		return part(0) + " IS NULL"
	case labelled:
		return name(t.slot) + ":" + t.labels.Format(QuoteProperty)
	case not:
		if a := t.args[0]; a.code == isNull {
			text := a.format(name)
			return strings.TrimSuffix(text, "NULL") + "NOT NULL"
		}
		return "NOT " + part(0)
	}
	sign := map[code]string{and: " AND ", xor: " XOR ", or: " OR "}[t.code]
	parts := make([]string, len(t.args))
	for i := range t.args {
		parts[i] = part(i)
	}
	return strings.Join(parts, sign)
}

func (m *members) format() string {
	var parts []string
	for _, v := range m.values {
		parts = append(parts, literal(v))
	}
	if m.null {
		parts = append(parts, "null")
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func literal(v property.Value) string {
	if v.Type().Kind != property.String {
		return v.String()
	}
	return QuoteString(v.Str())
}

// QuoteString prints a string literal of Cypher. Control characters, which a terminal would obey, are escaped.
func QuoteString(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, c := range s {
		switch {
		case c == '\\' || c == '\'':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case unicode.IsControl(c):
			fmt.Fprintf(&b, `\u%04X`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// QuoteProperty prints the name of a property, in backquotes where Cypher needs them.
func QuoteProperty(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// slotKey names a slot for the normal form, with its type: v0."amount":decimal(2).
func slotKey(s Slot) string {
	return s.Element.String() + "." + strconv.Quote(s.Property) + ":" + s.Type.String()
}

// normal puts the operands of symmetric comparisons in the order of their text, and turns > and >= around: a > b is
// b < a. It returns a copy.
func (t *term) normal(name func(Slot) string) *term {
	n := *t
	n.args = make([]*term, len(t.args))
	for i, a := range t.args {
		n.args[i] = a.normal(name)
	}
	if t.code != compare {
		return &n
	}
	turn := t.relation == Gt || t.relation == Ge
	if t.relation == Eq || t.relation == Ne {
		turn = n.args[0].format(name) > n.args[1].format(name)
	}
	if turn {
		n.relation = t.relation.Mirror()
		n.args[0], n.args[1] = n.args[1], n.args[0]
	}
	return &n
}
