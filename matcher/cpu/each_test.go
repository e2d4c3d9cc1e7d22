package cpu

import (
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
)

// TestCountsAtHubsMatchByMatch plays counts match by match, with lists that are too long to be copied without their
// staged edges, and such as are searched in the graph, against counts without enumeration.
func TestCountsAtHubsMatchByMatch(t *testing.T) {
	if testing.Short() {
		t.Skip("hubs have many edges")
	}
	p := newPowerLaw(1, 2000, 50000, 2, 60)
	for _, shape := range []patternShape{
		{"triangle", "000", [][2]int{{0, 1}, {1, 2}, {0, 2}}, 60},
		{"leaf", "0001", [][2]int{{0, 1}, {1, 2}, {0, 2}, {2, 3}}, 60},
		{"square", "0101", [][2]int{{0, 1}, {1, 2}, {2, 3}, {0, 3}}, 60},
		{"clique", "0000", [][2]int{{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}}, 60},
		{"fan", "00000", [][2]int{{0, 1}, {1, 2}, {0, 2}, {0, 3}, {2, 3}, {0, 4}, {3, 4}}, 4},
	} {
		t.Run(shape.name, func(t *testing.T) {
			var total [2]string
			for i := range total {
				x := &bench{tb: t, g: dyngraph.NewGraph(dyngraph.Options{}), b: New(Options{Threads: 1 + i})}
				_, err := x.g.Stage(p.graph)
				require.NoError(t, err)
				x.g.Commit()
				require.NoError(t, x.b.Load(x.g))
				x.b.eachs, x.b.guards = i == 1, 1<<40
				q := shape.query()
				q.Emit = matcher.EmitCounts
				x.prepare(q)
				of := x.b.plans[x.plan]
				if i == 0 {
					of.each = nil
				}
				sum := x.counted(dyngraph.Inserted, p.stream[:shape.updates/2])
				sum = sum.Add(x.counted(dyngraph.Inserted, p.stream[shape.updates/2:shape.updates]))
				require.Equal(t, i == 1, of.each != nil)
				total[i] = sum.String()
			}
			require.Equal(t, total[0], total[1])
		})
	}
}
