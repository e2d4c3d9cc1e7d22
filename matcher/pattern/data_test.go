//go:build data

package pattern

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDataQueries parses every query of the shared data sets.
func TestDataQueries(t *testing.T) {
	want := map[string]int{"tiny_s1": 9, "tiny_s2": 9, "tiny_s3": 9, "synth": 30, "hprd": 200, "github16": 22}
	for set, n := range want {
		queries, err := Load(filepath.Join("..", "..", "..", "shared", "data", set, "queries"), Options{})
		require.NoError(t, err)
		require.Len(t, queries, n, set)
		for _, q := range queries {
			again, err := Parse(Cypher, []byte(Format(q)), Options{Name: q.Name})
			require.NoError(t, err)
			require.Equal(t, q.Vertices, again.Vertices)
			require.Equal(t, q.Edges, again.Edges)
		}
	}
}
