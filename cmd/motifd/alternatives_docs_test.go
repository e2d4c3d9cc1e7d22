package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream/monitor"
)

// labelledPayments are edges of four labels between vertices of three.
func labelledPayments() []dyngraph.Update {
	rng := rand.New(rand.NewPCG(21, 2))
	var updates []dyngraph.Update
	label := func(v int) string { return []string{"Account", "Wallet", "Shop"}[v%3] }
	for range 400 {
		from := rng.IntN(15)
		to := (from + 1 + rng.IntN(14)) % 15
		updates = append(updates, dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint(from), To: fmt.Sprint(to),
			Label: []string{"TRANSFER", "WIRE", "CARD", "CASH"}[rng.IntN(4)], FromLabel: label(from),
			ToLabel: label(to)})
	}
	return updates
}

// TestS21DocumentedAlternatives runs the example of docs/patterns.md: it has the matches of the patterns that it
// stands for, written out, and fewer than the pattern without labels.
func TestS21DocumentedAlternatives(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "patterns.md"))
	require.NoError(t, err)
	_, text, ok := strings.Cut(string(page), "\n### Alternatives\n")
	require.True(t, ok)
	text, _, ok = strings.Cut(text, "\n### ")
	require.True(t, ok)
	example := regexp.MustCompile("(?s)```cypher\n(.*?)```").FindStringSubmatch(text)
	require.NotNil(t, example)

	m, err := monitor.Open(monitor.Options{Threads: 1})
	require.NoError(t, err)
	defer m.Close()
	_, err = m.Apply(context.Background(), labelledPayments(), nil)
	require.NoError(t, err)
	count := func(pattern string) matcher.Count {
		q, err := m.Parse("q", pattern)
		require.NoError(t, err, pattern)
		n, err := m.Count(context.Background(), q)
		require.NoError(t, err, pattern)
		return n
	}
	written := []string{example[1]}
	for _, labels := range regexp.MustCompile(`:\w+(\|\w+)+`).FindAllString(example[1], -1) {
		var more []string
		for _, one := range strings.Split(labels[1:], "|") {
			for _, pattern := range written {
				more = append(more, strings.Replace(pattern, labels, ":"+one, 1))
			}
		}
		written = more
	}
	require.Len(t, written, 24)
	var sum matcher.Count
	for _, pattern := range written {
		sum = sum.Add(count(pattern))
	}
	require.True(t, sum.Lo > 100)
	require.Equal(t, sum, count(example[1]))
	require.True(t, sum.Lo < count("MATCH (a)-[t]->(m)-[u]->(b)").Lo)
}
