package rowsort

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher/matchertest"
)

// TestBands plays the sort by bands against one of whole rows: rows of several searches with prefixes that agree in
// much, or in nothing, whose columns are more than a key holds or not, with suffixes that ascend or do not.
func TestBands(t *testing.T) {
	merged, inPrefixes, tooMany := 0, 0, 0
	seen := func() bool { return merged > 0 && inPrefixes > 0 && tooMany > 0 }
	matchertest.ForSeedsUntil(t, 30, seen, func(t *testing.T, rng *rand.Rand) {
		var s keySorter
		for range 4 {
			o := testOrder(2 + rng.IntN(9))
			edges := uint32(0)
			if rng.IntN(4) == 0 {
				edges = parallelEdges(t, o, 40)
			}
			var buf buffer
			buf.begin(o)
			rows := addSearches(rng, o, &buf, edges)
			s.presorted = rng.IntN(o.Vertices + 1) // whether it is so or not
			var got [][]uint32
			for _, k := range s.sort(o, &buf) {
				got = append(got, slices.Clone(buf.row(nil, &k)))
			}
			slices.SortFunc(rows, o.Compare)
			if !slices.EqualFunc(rows, got, slices.Equal) {
				t.Fatalf("%d rows of %d vertices in bands %v with %d presorted columns are not in order", len(rows),
					o.Vertices, s.bands, s.presorted)
			}
			if len(rows) > fewKeys {
				twoKeys := slices.ContainsFunc(s.bands, func(b band) bool { return b.inPrefixes })
				if len(s.bands) > 1 {
					merged++
				}
				if twoKeys {
					inPrefixes++
				}
				if len(buf.splits) > mostBands && len(s.bands) == 1 {
					tooMany++
				}
			}
		}
	})
}

// parallelEdges lets an order compare edges by identity, of which there are n.
func parallelEdges(t *testing.T, o *Layout, n uint32) uint32 {
	g := dyngraph.NewGraph(dyngraph.Options{})
	var us []dyngraph.Update
	for i := range n {
		us = append(us, dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint(i % 7), To: fmt.Sprint(7 + i%3),
			Label: fmt.Sprint(i)})
	}
	if _, err := g.Stage(us); err != nil {
		t.Fatal(err)
	}
	g.Commit()
	o.Determined, o.View = false, g.View(dyngraph.New)
	return n
}

// addSearches adds rows of some searches to a buffer and returns them. Their edges are any of so many, or those that
// the vertices determine.
func addSearches(rng *rand.Rand, o *Layout, buf *buffer, edges uint32) (rows [][]uint32) {
	// A column has few values, so that rows agree, but far apart, so that keys do not hold all columns.
	pools := make([][]uint32, o.Vertices)
	wide := 1 + rng.IntN(24)
	for c := range pools {
		pools[c] = make([]uint32, 1+rng.IntN(1<<rng.IntN(6)))
		for i := range pools[c] {
			pools[c][i] = rng.Uint32N(1 << wide)
		}
	}
	random := func(row []uint32, columns ...int) {
		for _, c := range columns {
			row[c] = pools[c][rng.IntN(len(pools[c]))]
		}
		for e := range o.Edges {
			row[o.Vertices+e] = row[e]*31 + row[e+1]
		}
	}
	// Any of the edges that are in suffixes, as all rows of a prefix have the others.
	anyEdge := func(row []uint32, columns []uint16) {
		for _, c := range columns {
			if edges > 0 && int(c) >= o.Vertices {
				row[c] = rng.Uint32N(edges)
			}
		}
	}
	vertices := make([]int, o.Vertices)
	for c := range vertices {
		vertices[c] = c
	}
	last := lastColumns(rng, o)
	for range rng.IntN(3) {
		last = append(last, lastColumns(rng, o)...)
	}
	for _, columns := range last {
		split := buf.splitOf(o, columns)
		ascend, most := rng.IntN(2) == 0, 1+rng.IntN(40)
		for range 1 + rng.IntN(10<<rng.IntN(7)) {
			prefix := make([]uint32, o.Width())
			random(prefix, vertices...)
			if edges > 0 {
				for e := range o.Edges {
					prefix[o.Vertices+e] = rng.Uint32N(edges)
				}
			}
			var of [][]uint32
			for range rng.IntN(most + 1) {
				row := slices.Clone(prefix)
				random(row, vertexColumns(o, columns)...)
				if edges > 0 {
					copy(row[o.Vertices:], prefix[o.Vertices:])
					anyEdge(row, columns)
				}
				of = append(of, row)
			}
			if ascend {
				slices.SortFunc(of, slices.Compare)
			}
			for _, c := range vertexColumns(o, columns) {
				prefix[c] = ^uint32(0) // is never looked at
			}
			buf.open(split, prefix)
			for _, row := range of {
				for _, c := range buf.splits[split].columns {
					buf.words = append(buf.words, row[c])
				}
				buf.words[buf.prefix+1]++
				buf.rows++
			}
			rows = append(rows, of...)
		}
		if rng.IntN(4) == 0 {
			for range rng.IntN(200) {
				row := make([]uint32, o.Width())
				random(row, vertices...)
				if edges > 0 {
					for e := range o.Edges {
						row[o.Vertices+e] = rng.Uint32N(edges)
					}
				}
				buf.whole(row)
				rows = append(rows, row)
			}
		}
	}
	return rows
}
