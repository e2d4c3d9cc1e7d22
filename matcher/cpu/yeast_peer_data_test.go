//go:build data && unix

package cpu

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
)

// yeastPeer runs RapidFlow on the queries of yeast.
type yeastPeer struct{ binary, dir string }

// newYeastPeer writes yeast as RapidFlow reads it; nil without a binary.
func newYeastPeer(tb testing.TB, binary string) *yeastPeer {
	tb.Helper()
	if binary == "" {
		return nil
	}
	p := &yeastPeer{binary, tb.TempDir()}
	p.write(tb, "graph", filepath.Join(string(yeast), "graph.txt"))
	p.write(tb, "stream", filepath.Join(string(yeast), "insert.txt"))
	return p
}

// write writes a graph: vertices with their degrees and edges with a label, and their numbers if there are vertices.
func (p *yeastPeer) write(tb testing.TB, name, from string) {
	tb.Helper()
	b, err := os.ReadFile(from)
	require.NoError(tb, err)
	var vertices, edges [][]string
	degree := map[string]int{}
	for line := range strings.Lines(string(b)) {
		switch f := strings.Fields(line); f[0] {
		case "v":
			vertices = append(vertices, f)
		case "e":
			edges = append(edges, f)
			degree[f[1]]++
			degree[f[2]]++
		}
	}
	to, err := os.Create(filepath.Join(p.dir, name))
	require.NoError(tb, err)
	w := bufio.NewWriter(to)
	if len(vertices) > 0 {
		fmt.Fprintf(w, "t %d %d\n", len(vertices), len(edges))
	}
	for _, v := range vertices {
		fmt.Fprintf(w, "v %s %s %d\n", v[1], v[2], degree[v[1]])
	}
	for _, e := range edges {
		fmt.Fprintf(w, "e %s %s 0\n", e[1], e[2])
	}
	require.NoError(tb, w.Flush())
	require.NoError(tb, to.Close())
}

var (
	yeastPeerPrepares = regexp.MustCompile(`(?m)^Preprocessing time \(seconds\): ([0-9.]+)`)
	yeastPeerSearches = regexp.MustCompile(`(?m)^Query time \(seconds\): ([0-9.]+)`)
	yeastPeerCounts   = regexp.MustCompile(`(?m)^Result count: ([0-9]+)`)
	yeastPeerEnds     = regexp.MustCompile(`(?m)^Time out`)
)

// run runs a query over the stream.
func (p *yeastPeer) run(tb testing.TB, query string, most time.Duration) (t yeastTimes) {
	tb.Helper()
	p.write(tb, "query", filepath.Join(string(yeast), "queries", query+".txt"))
	at := func(name string) string { return filepath.Join(p.dir, name) }
	out, err := exec.CommandContext(tb.Context(), p.binary, "-d", at("graph"), "-q", at("query"), "-u", at("stream"),
		"-num", "MAX", "-time_limit", strconv.Itoa(int(math.Ceil(most.Seconds())))).Output()
	require.NoError(tb, err)
	seconds := func(in *regexp.Regexp) time.Duration {
		found := in.FindSubmatch(out)
		require.NotNil(tb, found, "%s", out)
		s, err := strconv.ParseFloat(string(found[1]), 64)
		require.NoError(tb, err)
		return time.Duration(s * float64(time.Second))
	}
	t.register, t.search = seconds(yeastPeerPrepares), seconds(yeastPeerSearches)
	count := yeastPeerCounts.FindSubmatch(out)
	require.NotNil(tb, count, "%s", out)
	n, err := strconv.ParseUint(string(count[1]), 10, 64)
	require.NoError(tb, err)
	t.count, t.over = matcher.CountOf(n), yeastPeerEnds.Match(out)
	return t
}
