package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryFieldIsDocumented holds that docs/configuration.md tells of every field, and of no other.
func TestEveryFieldIsDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "configuration.md"))
	require.NoError(t, err)
	documented := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		if item, ok := strings.CutPrefix(line, "- `"); ok {
			field, _, _ := strings.Cut(item, "`")
			documented[field] = true
		}
	}
	known := Fields()
	for _, f := range []string{
		"name", "file", "cypher", "text", "emit", "match_mode", "unit", "backfill", "max_matches_per_batch",
		"exact_total",
		"work_budget",
		"over_budget", "sample", "on_expiry", "on_change", "mode", "within", "params",
		"once.per", "once.for", "once.max_keys",
	} {
		known = append(known, "queries[]."+f)
	}
	known = append(known, "graph.properties.edges", "graph.properties.vertices", "graph.retention")
	for _, path := range known {
		require.True(t, documented[path], "docs/configuration.md does not tell of %s", path)
	}
	for path := range documented {
		require.True(t, slices.Contains(known, path), "docs/configuration.md tells of %s, which there is not", path)
	}
}

// TestDocumentedConfigurations holds that what the documentation shows works: whole configurations load, and parts of
// one have fields that there are.
func TestDocumentedConfigurations(t *testing.T) {
	docs, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	howto, err := filepath.Glob("../docs/howto/*.md")
	require.NoError(t, err)
	whole := 0
	for _, file := range append(slices.Concat(docs, howto), "../README.md") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for i, block := range strings.Split(string(text), "```yaml\n") {
			block, _, ok := strings.Cut(block, "```")
			if i == 0 || !ok || strings.HasPrefix(block, "groups:\n") { // rules for Prometheus
				continue
			}
			if _, config, ok := strings.Cut(block, "\n  motifd.yaml: |\n    "); ok { // in a ConfigMap
				config, _, _ = strings.Cut(config, "\n---\n")
				block = strings.ReplaceAll(config, "\n    ", "\n")
			}
			if strings.Contains(block, "checkpoint:") && strings.Contains(block, "input:") {
				_, err := load(t, block, nil)
				require.NoError(t, err, "%s:\n%s", file, block)
				whole++
				continue
			}
			c := Default()
			c.src = newSources()
			require.Empty(t, bindFile(c, file, []byte(block)), block)
		}
	}
	require.GreaterOrEqual(t, whole, 3)
	_, err = Load(LoadOptions{File: "../.docker/motifd.yaml"})
	require.NoError(t, err)
}
