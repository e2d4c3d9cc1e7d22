package backtrack

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/internal/rowsort"
	"motifd/matcher/matchertest"
)

// TestS7TailsGoOutAsOneByOne: what a suffix found, and a list of a last step's candidates, goes out as it does one by
// one, whatever of it is mapped already or not visible, and wherever the buffer is full.
func TestS7TailsGoOutAsOneByOne(t *testing.T) {
	var full, hidden, taken bool
	seen := func() bool { return full && hidden && taken }
	matchertest.ForSeedsUntil(t, 100, seen, func(t *testing.T, rng *rand.Rand) {
		two := rng.IntN(2) == 0
		// A path of three vertices from an anchor's second one, and perhaps an edge back to that.
		o := &program.Order{Steps: []program.Step{{Vertex: 1}, {Vertex: 3},
			{Vertex: 0, Back: []program.BackEdge{{Edge: 2, Step: 1}}},
			{Vertex: 2, Back: []program.BackEdge{{Edge: 1, Step: 2}}, MustDiffer: []int{0, 1, 2}}},
			Forms: []program.Form{{Last: [2][]uint16{{2, 5}, {0, 2, 6, 5}}}}}
		rows := &rowsort.Layout{Vertices: 4, Edges: 3, Determined: true}
		if two {
			rows.Edges = 4
			o.Steps[3].Back = append(o.Steps[3].Back, program.BackEdge{Edge: 3, Step: 1})
			for i, last := range o.Forms[0].Last {
				o.Forms[0].Last[i] = append(last, 7)
			}
		}
		o.Suffix = &program.Suffix{S1: 2, Root: 1, MustDiffer: [2][]int{{0, 1}, {0}}}
		s := &Search{order: o}
		s.Sign, s.Anchor = dyngraph.Inserted, uint32(rng.IntN(50))
		var orders []uint32
		for range 100 {
			orders = append(orders, uint32(1+rng.IntN(50))|uint32(rng.IntN(2))<<31)
		}
		s.SetOrders(orders)
		vertex := func() uint32 { return uint32(rng.IntN(30)) }
		for i := range s.Images {
			s.Images[i] = dyngraph.VertexID(vertex())
		}
		for i := range s.row {
			s.row[i] = rng.Uint32N(1000)
		}
		staged := rng.IntN(2) == 0
		entry := func() dyngraph.Entry {
			return dyngraph.EntryOf(dyngraph.EdgeIndex(rng.IntN(100)), staged && rng.IntN(3) == 0)
		}
		var got, want []uint32
		st := &rowsort.Sorter{Memory: 1 + rng.IntN(1<<15)}
		s.Out = st
		st.Overflow = func() {
			full = true
			got = append(got, st.Arrived()...)
			st.Discard()
		}
		st.Begin(rows, 0, nil)
		if rng.IntN(2) == 0 { // not at the beginning
			st.Add(s.row[:rows.Width()])
			want = append(want, s.row[:rows.Width()]...)
		}
		oneByOne := func(steps []int, images []uint32, apart [][]int, entries []dyngraph.Entry) {
			for i, v := range images {
				for _, k := range apart[i] {
					if uint32(s.Images[k]) == v {
						taken = true
						return
					}
				}
			}
			row := slices.Clone(s.row[:rows.Width()])
			for i, d := range steps {
				row[o.Steps[d].Vertex] = images[i]
				for k := range o.Steps[d].Back {
					b := &o.Steps[d].Back[k]
					if e := entries[0]; !s.AdmitsEdge(b, e) {
						hidden = true
						return
					}
					row[rows.Vertices+b.Edge] = uint32(entries[0].Index())
					entries = entries[1:]
				}
			}
			want = append(want, row...)
		}
		for range 1 + rng.IntN(20) {
			if two {
				var words []uint32
				for range rng.IntN(20) {
					near, by, n := vertex(), entry(), rng.IntN(4)
					words = append(words, near, uint32(by), uint32(n))
					for range n {
						far, entries := vertex(), []dyngraph.Entry{by, entry(), entry()}
						words = append(words, far, uint32(entries[1]), uint32(entries[2]))
						oneByOne([]int{2, 3}, []uint32{near, far}, o.Suffix.MustDiffer[:], entries)
					}
				}
				require.True(t, s.addSuffixes(2, words, staged))
				continue
			}
			l := neighbors.List{Staged: staged}
			for range rng.IntN(200) {
				v, e := vertex(), entry()
				l.Vertices, l.Entries = append(l.Vertices, dyngraph.VertexID(v)), append(l.Entries, e)
				oneByOne([]int{3}, []uint32{v}, [][]int{o.Steps[3].MustDiffer}, []dyngraph.Entry{e})
			}
			require.True(t, s.addList(&o.Steps[3], l, &o.Forms[0]))
		}
		require.Equal(t, uint64(len(want)/rows.Width()), st.Count())
		require.Equal(t, want, append(got, st.Arrived()...))
	})
}
