package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNamesOfNewQueries: a name with a control character or a slash is refused before anything starts, whether it is in
// the configuration or a file's; --check, which does not look into the checkpoint, warns of it.
func TestNamesOfNewQueries(t *testing.T) {
	t.Parallel()
	const pattern = "MATCH (a)-->(b)"
	dir := write(t, map[string]string{
		"motifd.yaml": fileConfig, "in.jsonl": "", `a\b.cypher`: pattern, "graph.txt": "v 0\nv 1\ne 0 1\n", "u.txt": "",
		"named.yaml": strings.Replace(
			fileConfig,
			"queries:\n",
			"queries:\n  - {name: \"x\\ny\", cypher: \""+pattern+"\"}\n",
			1,
		),
	})
	r := motifd(t, dir, "run", "-c", "named.yaml", "--set", "admin.listen=")
	require.Equal(t, exitRefused, r.code, r.stderr)
	require.Contains(t, r.stderr, "its name has the character U+000A")
	require.NoDirExists(t, filepath.Join(dir, "state"))
	require.Equal(t, exitRefused, motifd(t, dir, "run", "-c", "named.yaml", "--check").code,
		"no checkpoint can hold it")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "state"), 0o700))
	r = succeed(t, dir, "run", "-c", "named.yaml", "--check")
	require.Contains(t, r.stderr, "warning: named.yaml:")
	require.Contains(t, r.stderr, "the query is refused unless the checkpoint holds one of this name")
	for _, args := range [][]string{
		{"match", "--graph", "graph.txt", "--query", `a\b.cypher`},
		{"replay", "--graph", "graph.txt", "--updates", "u.txt", "--query", `a\b.cypher`},
		{"query", "validate", `a\b.cypher`},
	} {
		r := motifd(t, dir, args...)
		require.Equal(t, exitRefused, r.code, "%s\n%s", args, r.stderr)
		require.Contains(t, r.stderr, "its name has the character U+005C", args)
	}
}

// TestReadableSecretsAreWarnedOf: run --check and the daemon's log tell of a token that every user can read, and
// nothing of one that is private.
func TestReadableSecretsAreWarnedOf(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"motifd.yaml": fileConfig, "in.jsonl": "", "token": "s3cret"}) // 0644
	const says = "admin.token: every user of this machine can read the file"
	set := []string{"--set", "admin.token.file=token"}
	require.Contains(t, succeed(t, dir, append([]string{"run", "-c", "motifd.yaml", "--check"}, set...)...).stderr,
		says)
	r := succeed(t, dir, append([]string{"run", "-c", "motifd.yaml", "--set", "admin.listen=127.0.0.1:0"}, set...)...)
	require.Equal(t, 1, strings.Count(r.stderr, says), r.stderr)
	require.NotContains(t, r.stderr, "s3cret")
	require.NoError(t, os.Chmod(filepath.Join(dir, "token"), 0o600))
	require.Empty(t, succeed(t, dir, append([]string{"run", "-c", "motifd.yaml", "--check"}, set...)...).stderr)
}
