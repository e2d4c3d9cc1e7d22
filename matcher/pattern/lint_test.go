//go:build cypher

package pattern

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
	"motifd/matcher/condition"
	"motifd/matcher/condition/conditiontest"
)

// TestAcceptedIsCypher holds that Neo4j's linter finds no error in what ParseRule accepts: the examples of the
// transcripts, random conditions, and the recipes of the documentation. RETURN * is appended where RETURN is absent.
// NODE_PATH leads to the linter.
func TestAcceptedIsCypher(t *testing.T) {
	opt := Options{Name: "q", Directed: true}
	var queries []string
	add := func(src string, d Declared) {
		if _, err := ParseRule([]byte(src), opt, d); err != nil {
			return
		}
		_, ast, err := readCypher(src, newBuilder(opt))
		require.NoError(t, err)
		if ast.fields == nil {
			src = strings.TrimSuffix(strings.TrimSpace(src), ";") + "\nRETURN *"
		}
		queries = append(queries, src)
	}
	for _, src := range cases(t, "testdata/rule.case", "testdata/cypher.case", "testdata/groups.case",
		"testdata/paths.case", "testdata/negation.case") {
		src = strings.NewReplacer(`\n`, "\n", `\t`, "\t", "\ufeff", "").Replace(src)
		add(src, declared())
		add(src, severalDeclared())
	}
	scope := conditiontest.Scope()
	from := Declared{Schema: scope.Schema, Parameters: scope.Parameters}
	first := rand.Uint64()
	t.Log("first seed", first)
	for seed := range uint64(200) {
		e := conditiontest.Source{Rand: rand.New(rand.NewPCG(first, seed))}.Predicate(3)
		add(conditiontest.Pattern+" WHERE "+conditiontest.Format(e), from)
	}
	require.Greater(t, len(queries), 150)
	before := len(queries)
	for _, src := range recipes(t) {
		add(src, recipesDeclared())
	}
	require.Greater(t, len(queries), before+20)

	for i, errors := range lint(t, queries) {
		require.Empty(t, errors, queries[i])
	}
	for i, errors := range lint(t, []string{
		"MATCH (a", "MATCH (a) WHERE a.x = = 1 RETURN *", "MATCH (a:A:B)--(b:C|D) RETURN *",
		"MATCH (a) WHERE b.x = 1 RETURN *",
	}) {
		require.NotEmpty(t, errors, "query %d", i)
	}
}

// recipes returns the queries that the pages of recipes write to files, also those that they show to be refused.
func recipes(t *testing.T) (all []string) {
	t.Helper()
	query := regexp.MustCompile(`(?ms)^cat >\S+\.cypher <<'EOC'\n(.*?)^EOC$`)
	for _, page := range []string{"cookbook.md", "typologies.md"} {
		text, err := os.ReadFile("../../docs/howto/" + page)
		require.NoError(t, err)
		for _, m := range query.FindAllSubmatch(text, -1) {
			all = append(all, string(m[1]))
		}
	}
	return all
}

// recipesDeclared has what the recipes declare, and parameters of one day in place of theirs.
func recipesDeclared() Declared {
	day := condition.Parameter{Values: []property.Value{property.Int(86_400_000)}}
	return Declared{
		Schema: &property.Schema{
			Vertices: property.Declarations{
				"Account": types("blocked:bool watched:bool kind:string"),
				"Medium":  types("blocked:bool"),
				"Loan":    types("amount:decimal(2)"),
			},
			Edges: property.Declarations{
				"TRANSFER":  types("amount:decimal(2) ts:timestamp"),
				"WITHDRAW":  types("amount:decimal(2) ts:timestamp"),
				"DEPOSIT":   types("ts:timestamp"),
				"SIGN_IN":   types("ts:timestamp"),
				"USES":      types("ts:timestamp"),
				"DELIVERED": types("ts:timestamp"),
			},
		},
		Parameters: map[string]condition.Parameter{"hour": day, "day": day, "days": day, "week": day},
	}
}

func lint(t *testing.T, queries []string) (errors [][]string) {
	t.Helper()
	in, err := json.Marshal(map[string]any{"queries": queries, "parameters": map[string]any{"day": 1, "rate": 2.5,
		"flag": true, "word": "ab", "none": nil, "hour": 1, "days": 1, "week": 1,
		"whole": []any{3, 2.5}, "real": []any{0.5}, "words": []any{"b"},
		"safe": []any{"AT"}}})
	require.NoError(t, err)
	cmd := exec.Command("node", "testdata/lint.cjs")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err, "npm installs @neo4j-cypher/language-support; set NODE_PATH to its node_modules")
	require.NoError(t, json.Unmarshal(out, &errors))
	require.Len(t, errors, len(queries))
	return errors
}
