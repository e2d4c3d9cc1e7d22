package pattern

import (
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// What openCypher's expressions have and motifd's have not, each by its name.

// operators are the symbols that may follow an expression in Cypher and are refused here, with the message for each.
var operators = map[string]string{
	"/": "division is not supported; multiply the other side, as in 10 * o.amount >= 9 * i.amount",
	"%": "the remainder % is not supported; conditions compute with +, - and *",
	"^": "the power ^ is not supported; conditions compute with +, - and *",
	"[": "an index or a slice is not supported; a property is written a.name",
	"{": "a map or a subquery is not supported in an expression",
	".": "a property of a property is not supported; a property is written a.name",
	":": "a label in an expression is not supported; write it in MATCH, as in (a:Account)",
	"|": "| is not supported in an expression; write OR",
	"&": "& is not supported in an expression; write AND",
	"!": "! is not supported in an expression; write <> or NOT",
	"?": "? is not supported in an expression",
	"]": "the bracket is never opened",
	")": "the parenthesis is never opened",
	"}": "the brace is never opened",
	">": "> stands between two values",
	"<": "< stands between two values",
	"=": "= stands between two values",
}

// words are keywords that may stand behind an expression and are refused there.
var words = map[string]string{
	"BETWEEN":  "BETWEEN is not Cypher; write 1 <= a.x <= 2",
	"CONTAINS": "CONTAINS is not supported; STARTS WITH, = and IN compare strings",
	"ENDS":     "ENDS WITH is not supported; STARTS WITH, = and IN compare strings",
	"STARTS":   "after STARTS stands WITH, and both once; in a condition of its own write AND",
	"IN":       "IN follows a value, once; join conditions by AND",
	"IS":       "IS follows a value, once; join conditions by AND",
	"NOT":      "NOT stands before a condition, as in NOT a.x = 1",
	"WHERE":    "a second WHERE; join conditions by AND",
}

// refuseExpression says what stands at the token, behind an expression that does not end there. closing is the sign
// that would end it, "" for the end of a WHERE.
func (p *parser) refuseExpression(closing string) error {
	t := p.token()
	switch {
	case closing != "" && (t.EOF() || t.Type != stringToken && strings.Contains(")]},;", t.Value)):
		return p.fail(at(t.Pos), "unexpected %s; %s is missing", describe(t), closing)
	case closing == "" && t.Value == ",":
		return p.fail(at(t.Pos), "unexpected \",\"; a path stands before WHERE, and conditions are joined by AND")
	}
	if msg := quotes(t); msg != "" && t.Type != stringToken {
		return p.fail(at(t.Pos), "%s", msg)
	}
	if t.Type == wordToken {
		upper := strings.ToUpper(t.Value)
		if why, ok := words[upper]; ok {
			return p.fail(at(t.Pos), "%s", why)
		}
		if why, ok := clauses[upper]; ok {
			return p.fail(at(t.Pos), "%s", why)
		}
	}
	if why, ok := operators[t.Value]; ok && !t.EOF() {
		return p.fail(at(t.Pos), "%s", why)
	}
	return p.fail(at(t.Pos), "unexpected %s; an expression goes on with AND, OR, XOR, a comparison, +, - or *, or ends",
		describe(t))
}

// functions are those with a word of their own.
var functions = map[string]string{
	"timestamp":     "conditions know no clock; compare with the ts of another edge, or set `within` on the query",
	"datetime":      "a timestamp is a number of milliseconds since 1970, such as 1704067200000",
	"localdatetime": "a timestamp is a number of milliseconds since 1970, such as 1704067200000",
	"date":          "a timestamp is a number of milliseconds since 1970, such as 1704067200000",
	"exists":        "write a.x IS NOT NULL",
	"id":            "those of a match differ already; mark certain vertices by a property, such as watched: bool",
	"elementid":     "those of a match differ already; mark certain vertices by a property, such as watched: bool",
	"labels":        "write labels in MATCH",
	"type":          "write the type in MATCH",
	"coalesce":      "write a.x IS NULL OR a.x = 1",
	"any":           "there is all(e IN t WHERE e.amount > 900) of a path t",
	"none":          "write all(e IN t WHERE NOT e.amount > 900) of a path t",
	"size":          "the lengths of a path stand in MATCH, as in -[t:T*1..5]->",
	"length":        "the lengths of a path stand in MATCH, as in -[t:T*1..5]->",
	"count":         "aggregates stand in WITH, as in WITH m, count(*) AS n WHERE n >= 10",
	"sum":           "aggregates stand in WITH, as in WITH m, sum(t.amount) AS total WHERE total > 10000",
	"collect":       "aggregates stand in WITH, as in WITH m, collect(t)[..5] AS sample",
	"avg":           "aggregates stand in WITH: count, sum and collect",
	"min":           "aggregates stand in WITH: count, sum and collect",
	"max":           "aggregates stand in WITH: count, sum and collect",
}

// refuseAtom says what stands where a value or a condition should begin.
func (p *parser) refuseAtom() error {
	t, after := p.token(), p.after()
	switch {
	case t.EOF():
		return p.fail(at(t.Pos), "unexpected end of the pattern; a value stands here, such as a.x, 12 or 'text'")
	case isName(t) && after.Value == "(" && !isReserved(t.Value):
		why, ok := functions[strings.ToLower(t.Value)]
		if !ok {
			why = "there is duration('PT24H'), and +, - and *"
		}
		return p.fail(at(t.Pos), "the function %s is not supported; %s", short(t.Value), why)
	case t.Type == wordToken && isReserved(t.Value):
		return p.refuseWord(t)
	case isName(t):
		return p.refuseVariable(t, after)
	case t.Value == "(":
		return p.fail(at(t.Pos), "a pattern in an expression is not supported; the edges of a match stand in MATCH, "+
			"and NOT (a)-->(b) denies some")
	case t.Value == "[":
		return p.fail(at(t.Pos), "a list stands after IN only")
	case t.Value == "{":
		return p.fail(at(t.Pos), "a map is not supported in an expression; write the properties one by one")
	case t.Value == "+":
		return p.fail(at(t.Pos), "a sign + is not supported; leave it out")
	case t.Value == "." && after.Type == numberToken:
		return p.fail(at(t.Pos), "a number starts with a digit; write 0.%s", after.Value)
	case t.Value == "$":
		return p.fail(at(t.Pos), "after $ stands the name of a parameter, as in $day")
	}
	if msg := quotes(t); msg != "" {
		return p.fail(at(t.Pos), "%s", msg)
	}
	return p.fail(at(t.Pos), "unexpected %s; a value stands here, such as a.x, 12 or 'text'", describe(t))
}

func (p *parser) refuseWord(t lexer.Token) error {
	switch upper := strings.ToUpper(t.Value); upper {
	case "EXISTS":
		return p.fail(at(t.Pos), "%s", clauses["EXISTS"])
	case "NOT":
		return p.fail(at(t.Pos), "NOT stands before a whole condition, as in NOT a.x = 1")
	case "ALL":
		return p.fail(at(t.Pos), "ALL is not supported here; of a path t all is written all(e IN t WHERE e.amount > "+
			"900)")
	case "CASE":
		return p.fail(at(t.Pos), "%s is not supported in an expression; write conditions with AND and OR", upper)
	default:
		if why, ok := words[upper]; ok {
			return p.fail(at(t.Pos), "a value is missing before %s; %s", upper, why)
		}
		return p.fail(at(t.Pos), "unexpected %s, a reserved word of Cypher; a value stands here, and a name is "+
			"written `%s`, in backquotes", short(t.Value), t.Value)
	}
}

// refuseVariable answers a variable without a property.
func (p *parser) refuseVariable(name, after lexer.Token) error {
	why := "a vertex or edge stands for no value; write a property of it, as in a.x"
	switch after.Value {
	case ":":
		why = "a label in an expression is not supported; write it in MATCH, as in (a:Account)"
	case "=", "<":
		why = "elements are not compared: those of a match differ already; write a property, as in a.x"
	case "{":
		why = "braces behind a name are not supported, other than NOT EXISTS { .. }; count in WITH, as in " +
			"WITH m, count(*) AS n WHERE n >= 10"
	case "[":
		why = "an index is not supported; a property is written a.name"
	}
	return p.fail(at(name.Pos), "%s stands alone; %s", short(name.Value), why)
}

// refuseCall answers what follows name.key and is neither a comparison nor an operation.
func (p *parser) refuseCall(name, key *cypherName) error {
	if p.token().Value == "." {
		return p.fail(at(p.token().Pos), "%s", operators["."])
	}
	return p.fail(at(name.pos), "the function %s is not supported; there is duration('PT24H'), of a path t to z "+
		"motifd.increasing(t, z) and motifd.span(t, z), and +, - and *", short(name.text+"."+key.text))
}

// refuseEntry answers what is no entry of a property map.
func (p *parser) refuseEntry() error {
	t := p.token()
	return p.fail(at(t.Pos), "unexpected %s; a property map is written {name: value, name: value}", describe(t))
}

// patternAhead reports whether the parenthesis begins a vertex of a path and not a value: (), (:A), (a:A), (a {..}), or
// (a) with an edge behind.
func (p *parser) patternAhead() bool {
	i := p.i + 1
	at := func(i int) lexer.Token { return p.tokens[min(i, len(p.tokens)-1)] }
	named := isName(at(i))
	if named {
		i++
	}
	switch at(i).Value {
	case ":", "{":
		return true
	case ")":
		edgeGoesOn := func(i int) bool { return at(i).Value == "-" || at(i).Value == "[" }
		edge := at(i + 1).Value
		return !named || edge == "-" && edgeGoesOn(i+2) || edge == "<" && at(i+2).Value == "-" && edgeGoesOn(i+3)
	}
	return false
}

// unescape returns what a string literal stands for.
func unescape(literal string) (string, error) {
	var b strings.Builder
	for s := literal[1 : len(literal)-1]; s != ""; {
		if s[0] != '\\' {
			n := strings.IndexByte(s, '\\')
			if n < 0 {
				n = len(s)
			}
			b.WriteString(s[:n])
			s = s[n:]
			continue
		}
		r, size := escaped(s)
		if size == 0 {
			_, n := utf8.DecodeRuneInString(s[1:])
			return "", escapeError(s[:1+n])
		}
		b.WriteRune(r)
		s = s[size:]
	}
	return b.String(), nil
}
