package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"motifd/dyngraph"
)

// TestLoadGraphTakesEveryUpdate loads records of one update up to more than a block holds, in more than one chunk.
// What was loaded is compared with a map.
func TestLoadGraphTakesEveryUpdate(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	const vertices = 500
	want := map[[2]int]string{}
	var out bytes.Buffer
	for updates := 0; updates < loadChunk+loadChunk/2; {
		n := 1 + rnd.IntN(3)
		if rnd.IntN(20) == 0 {
			n = 1 + rnd.IntN(2*loadBlock)
		}
		for i := range n {
			from, to := rnd.IntN(vertices), rnd.IntN(vertices)
			if from == to {
				to = vertices
			}
			separator, op, id := byte(','), "+", fmt.Sprint(updates+i)
			if i == 0 {
				separator = '['
			}
			out.WriteByte(separator)
			if want[[2]int{from, to}] = id; rnd.IntN(3) == 0 {
				op = "-"
				delete(want, [2]int{from, to})
			}
			fmt.Fprintf(&out, `{"op":%q,"from":"%d","to":"%d","id":%q}`, op, from, to, id)
		}
		out.WriteString("]\n")
		updates += n
	}
	path := filepath.Join(t.TempDir(), "graph.jsonl")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := (&graphFlags{MaxExpansion: 1000}).input(path, "")
	if err != nil {
		t.Fatal(err)
	}
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	if _, err := loadGraph(&app{ctx: t.Context(), stderr: io.Discard}, g, in); err != nil {
		t.Fatal(err)
	}
	view, have := g.View(dyngraph.New), 0
	for e := range view.EdgesSeq() {
		from, to, _ := view.Edge(e)
		var ends [2]int
		if _, err := fmt.Sscan(view.Key(from)+" "+view.Key(to), &ends[0], &ends[1]); err != nil {
			t.Fatal(err)
		}
		if id := view.Attr(e).ID; want[ends] != id {
			t.Fatalf("edge %v has id %q, want %q", ends, id, want[ends])
		}
		have++
	}
	if have != len(want) {
		t.Fatalf("%d edges, want %d", have, len(want))
	}
}
