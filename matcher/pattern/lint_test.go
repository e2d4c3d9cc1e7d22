//go:build cypher

package pattern

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/condition/conditiontest"
)

// TestAcceptedIsCypher holds that Neo4j's linter finds no error in what ParseRule accepts: the examples of the
// transcripts and random conditions. RETURN * is appended where RETURN is absent. NODE_PATH leads to the linter.
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

func lint(t *testing.T, queries []string) (errors [][]string) {
	t.Helper()
	in, err := json.Marshal(map[string]any{"queries": queries, "parameters": map[string]any{"day": 1, "rate": 2.5,
		"flag": true, "word": "ab", "none": nil, "whole": []any{3, 2.5}, "real": []any{0.5}, "words": []any{"b"},
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
