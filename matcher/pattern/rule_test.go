package pattern

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/condition/conditiontest"
)

// types reads declarations "name:type name:type".
func types(s string) map[string]property.Type {
	all := make(map[string]property.Type)
	for _, field := range strings.Fields(s) {
		name, typ, _ := strings.Cut(field, ":")
		t, err := property.ParseType(typ)
		if err != nil {
			panic(err)
		}
		all[name] = t
	}
	return all
}

// declared is the schema of testdata/rule.case.
func declared() Declared {
	one := func(v property.Value) condition.Parameter { return condition.Parameter{Values: []property.Value{v}} }
	return Declared{
		Schema: &property.Schema{
			Vertices: property.Declarations{
				"*":       types("blocked:bool"),
				"Account": types("country:string risk:int64 rate:decimal(10) limit:decimal(10)"),
				"Wallet":  types("country:string risk:decimal(2)"),
			},
			Edges: property.Declarations{
				"TRANSFER": types("amount:decimal(2) ts:timestamp score:float64 n:int64"),
				"WIRE":     types("amount:decimal(2) ts:timestamp"),
			},
		},
		Parameters: map[string]condition.Parameter{
			"day": one(property.Int(86_400_000)), "safe": {List: true, Values: []property.Value{property.Text("AT")}},
			"span": one(property.Text("1h")),
		},
	}
}

// severalDeclared is declared where a vertex may have several labels.
func severalDeclared() Declared {
	d := declared()
	d.Schema.SeveralLabels = true
	delete(d.Schema.Vertices, "Wallet") // its risk has another type
	return d
}

// ruleAnswer describes what ParseRule returned.
func ruleAnswer(r *Rule, err error) string {
	if err != nil {
		return err.Error()
	}
	lines := []string{answer(r.Query, nil)}
	if r.Query.Groups != nil {
		if len(r.Parameters) > 0 {
			lines = append(lines, "parameters "+strings.Join(r.Parameters, " "))
		}
		return strings.Join(lines, "\n")
	}
	plain := func(s string) string { return s }
	name := namesOf(r.Query)
	for i, l := range r.VertexLabels {
		if _, single := l.Single(); !single {
			lines = append(lines, name(condition.Ref{Index: i})+" is "+l.Format(plain))
		}
	}
	for i, l := range r.EdgeLabels {
		if _, single := l.Single(); !single {
			lines = append(lines, name(condition.Ref{Edge: true, Index: i})+" is "+l.Format(plain))
		}
	}
	for _, c := range r.Conditions {
		kind := "own"
		if !c.Own() {
			kind = "between"
		}
		lines = append(lines, kind+" "+c.Format(name))
	}
	for _, x := range r.Query.Rises {
		lines = append(lines, fmt.Sprint("increasing ", x.Edges))
	}
	for _, x := range r.Query.Spans {
		lines = append(lines, fmt.Sprintf("span %v at most %d", x.Edges, x.Most))
	}
	for i := range r.Query.Negations {
		lines = append(lines, r.Query.FormatNegation(&r.Query.Negations[i]))
	}
	if r.Everything && len(r.Fields) > 0 {
		lines = append(lines, "field *")
	}
	for _, f := range r.Fields {
		what := ""
		if f.Formula != nil {
			what = " " + f.Formula.Type.String()
		}
		lines = append(lines, "field "+f.Name+what)
	}
	if len(r.Parameters) > 0 {
		lines = append(lines, "parameters "+strings.Join(r.Parameters, " "))
	}
	return strings.Join(lines, "\n")
}

func namesOf(q *matcher.Query) func(condition.Ref) string {
	return func(r condition.Ref) string {
		if r.Edge {
			return quote(q.Edges[r.Index].Name, true)
		}
		return quote(q.Vertices[r.Index].Name, true)
	}
}

// TestEverything holds when a record has every element.
func TestEverything(t *testing.T) {
	for text, want := range map[string]bool{"": true, " RETURN *": true, " RETURN *, a AS x": true, " RETURN a": false,
		" RETURN a AS x": false} {
		r, err := ParseRule([]byte("MATCH (a)-->(b)"+text), Options{Name: "q", Directed: true}, Declared{})
		require.NoError(t, err)
		require.Equal(t, want, r.Everything, text)
	}
}

// TestExpressionsRoundTrip prints random expressions, and parses them again.
func TestExpressionsRoundTrip(t *testing.T) {
	for seed := range uint64(400) {
		e := conditiontest.Source{Rand: rand.New(rand.NewPCG(seed, 1))}.Predicate(4)
		text := conditiontest.Format(e)
		again, err := parseExpression(text)
		require.NoError(t, err, "seed %d: %s", seed, text)
		require.Equal(t, e, again, "seed %d: %s", seed, text)
	}
}

// parseExpression parses an expression, and forgets the positions.
func parseExpression(text string) (*condition.Expr, error) {
	_, ast, err := readCypher("MATCH (a) WHERE "+text, newBuilder(Options{}))
	if err != nil {
		return nil, err
	}
	forgetPositions(ast.matches[0].where)
	return ast.matches[0].where, nil
}

func forgetPositions(e *condition.Expr) {
	e.Pos = condition.Pos{}
	for _, a := range e.Args {
		forgetPositions(a)
	}
}

// TestConditionsRoundTrip prints the resolved conditions of random expressions, and gets the same ones from the text.
func TestConditionsRoundTrip(t *testing.T) {
	scope := conditiontest.Scope()
	from := Declared{Schema: scope.Schema, Parameters: scope.Parameters}
	opt := Options{Name: "q", Directed: true}
	compared := 0
	for seed := range uint64(600) {
		e := conditiontest.Source{Rand: rand.New(rand.NewPCG(seed, 2))}.Predicate(3)
		r, err := ParseRule([]byte(conditiontest.Pattern+" WHERE "+conditiontest.Format(e)), opt, from)
		if err != nil || len(r.Conditions) == 0 {
			continue
		}
		var texts []string
		for _, c := range r.Conditions {
			texts = append(texts, "("+c.Format(namesOf(r.Query))+")")
		}
		text := strings.Join(texts, " AND ")
		again, err := ParseRule([]byte(conditiontest.Pattern+" WHERE "+text), opt, Declared{Schema: scope.Schema})
		require.NoError(t, err, "seed %d: %s", seed, text)
		require.Equal(t, keys(r), keys(again), "seed %d: %s", seed, text)
		compared++
	}
	require.Greater(t, compared, 100)
}

func keys(r *Rule) (all []string) {
	for _, c := range r.Conditions {
		all = append(all, c.Key(nil))
	}
	return all
}

// TestPlainPatternsAskNothing: a pattern of labels and directions has neither conditions nor fields, whatever it
// returns by name, so that its stored form and its records stay as they are.
func TestPlainPatternsAskNothing(t *testing.T) {
	for _, src := range []string{
		"MATCH (a:Account)-[t:TRANSFER]->(b)<--(c), (c)--(a) RETURN a, t", "MATCH ()-->() RETURN *;",
		"MATCH (a)-->(b) MATCH (b)-->(c:C)",
	} {
		q, err := Parse(Cypher, []byte(src), Options{Name: "q", Directed: true})
		require.NoError(t, err)
		require.Empty(t, q.Conditions)
		require.Empty(t, q.Fields)
		js, err := json.Marshal(q)
		require.NoError(t, err)
		require.NotContains(t, string(js), "fields")
		require.NotContains(t, string(js), "conditions")
	}
}

// TestDeepExpressions nests and repeats parts beyond every bound: all are refused, none overflows the stack.
func TestDeepExpressions(t *testing.T) {
	const head = "MATCH (a:Account)-[t:TRANSFER]->(b) WHERE "
	for name, text := range map[string]string{
		"parentheses": strings.Repeat("(", 20_000) + "a.risk = 1" + strings.Repeat(")", 20_000),
		"shallow":     strings.Repeat("(", maxDepth+1) + "a.risk = 1" + strings.Repeat(")", maxDepth+1),
		"not":         strings.Repeat("NOT ", 16_000) + "a.blocked",
		"sum":         "1 = a.risk" + strings.Repeat(" + 1", 5_000),
		"and":         "a.blocked" + strings.Repeat(" AND a.blocked", 5_000),
		"chain":       "a.risk" + strings.Repeat(" < a.risk", 4_000),
		"lists":       "a.risk IN " + strings.Repeat("[", 9_000),
		"minus":       "a.risk = " + strings.Repeat("-", 9_000) + "1",
		"numbers":     "a.risk = " + strings.Repeat("9", 100_000),
		"string":      "a.country = '" + strings.Repeat(`\\`, 100_000),
	} {
		_, err := ParseRule([]byte(head+text), Options{Name: "q", File: "f", Directed: true}, declared())
		require.Error(t, err, name)
		checkError(t, []byte(head+text), err)
	}
	for name, text := range map[string]string{
		"within": strings.Repeat("(", maxDepth) + "a.risk = 1" + strings.Repeat(")", maxDepth),
		"list":   "a.risk IN [0" + strings.Repeat(", 1", 5_000) + "]",
	} {
		r, err := ParseRule([]byte(head+text), Options{Name: "q", Directed: true}, declared())
		require.NoError(t, err, name)
		require.Len(t, r.Conditions, 1)
	}
}

// FuzzRule holds that the parser never panics, that its errors point into the source, and that printed conditions are
// the same when parsed again.
func FuzzRule(f *testing.F) {
	for _, src := range cases(f, "testdata/rule.case", "testdata/cypher.case", "testdata/groups.case") {
		f.Add([]byte(src), true)
		f.Add([]byte(src), false)
	}
	f.Fuzz(func(t *testing.T, src []byte, directed bool) {
		opt := Options{Name: "q", File: "f", Directed: directed}
		r, err := ParseRule(src, opt, declared())
		if err != nil {
			checkError(t, src, err)
			return
		}
		q := *r.Query
		q.Conditions = r.Conditions
		if q.Groups != nil {
			if err := q.Validate(directed); err != nil {
				t.Fatal(err)
			}
			checkStored(t, &q)
			return
		}
		if err := q.Validate(directed); err != nil {
			t.Fatal(err)
		}
		_, ast, err := readCypher(strings.TrimPrefix(string(src), "\ufeff"), newBuilder(opt))
		require.NoError(t, err)
		for _, m := range ast.matches {
			if m.where == nil {
				continue
			}
			text := conditiontest.Format(m.where)
			again, err := parseExpression(text)
			require.NoError(t, err, text)
			forgetPositions(m.where)
			require.Equal(t, m.where, again, text)
		}
		require.Len(t, r.VertexLabels, len(r.Query.Vertices))
		require.Len(t, r.EdgeLabels, len(r.Query.Edges))
		for _, c := range r.Conditions {
			values := make([]property.Value, len(c.Slots))
			_ = fmt.Sprint(c.Eval(values), c.Key(nil), c.Format(namesOf(r.Query)))
		}
	})
}
