package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/admin"
	"motifd/cmd/motifd/internal/payments"
	"motifd/matcher/matchertest"
)

// TestS11PatternOf496EdgesGoesRound has the largest pattern, a tournament of 32 accounts that is ordered, registered by
// the API and kept through a restart; what it finds is in the output, and in a replay of the batch log, with all of its
// edges.
func TestS11PatternOf496EdgesGoesRound(t *testing.T) {
	matchertest.NotUnderRace(t, "it takes 20 seconds of processors")
	t.Parallel()
	dir, port := logDir(t)
	var paths []string
	var edges []payments.Update
	for v := range 33 {
		for u := range v {
			if v < 32 {
				paths = append(paths, fmt.Sprintf("(u%d)-[:T]->(u%d)", u, v))
			}
			edges = append(edges,
				payments.Update{Op: "+", From: fmt.Sprint("v", u), To: fmt.Sprint("v", v), Label: "T"})
		}
	}
	require.Len(t, paths, 496)
	source := "MATCH " + strings.Join(paths, ",\n")
	produce := func(updates ...payments.Update) {
		value, err := json.Marshal(updates)
		require.NoError(t, err)
		require.NoError(t, produceOne(t.Context(), port, value))
	}
	p := start(t, dir)
	p.ready()
	path := filepath.Join(write(t, map[string]string{"all.cypher": source}), "all.cypher")
	require.Contains(t, succeed(t, dir, "query", "add", path, "--url", p.url).stdout, "query all, version 1")
	produce(edges...)
	p.until("the matches are there", func() bool { return p.status().Edges == len(edges) })
	p.stop()
	p = start(t, dir)
	p.ready()
	var list admin.QueryList
	require.NoError(t, json.Unmarshal([]byte(succeed(t, dir, "query", "list", "--json", "--url", p.url).stdout), &list))
	require.Equal(t, source, list.Queries[0].Pattern)
	gone := edges[0]
	gone.Op = "-"
	produce(gone)
	p.until("an edge is gone", func() bool { return p.status().Edges == len(edges)-1 })
	p.stop()
	require.Contains(t, succeed(t, dir, "checkpoint", "verify", "state").stdout, "intact")
	again := succeed(t, dir, "replay", "--batch-log", "state").stdout
	ops := map[string]int{}
	for line := range strings.Lines(again) {
		var a struct {
			Op, Query string
			Edges     map[string]any
		}
		require.NoError(t, json.Unmarshal([]byte(line), &a))
		if a.Query == "all" {
			ops[a.Op]++
			require.Len(t, a.Edges, 496)
		}
	}
	require.Equal(t, map[string]int{"+": 33, "-": 31}, ops)
	p = start(t, dir)
	p.ready()
	require.Equal(t, strings.Join(outputOf(t, fmt.Sprintf("127.0.0.1:%d", port)), ""), again)
	p.stop()
}
