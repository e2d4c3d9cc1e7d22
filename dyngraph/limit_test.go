package dyngraph

import (
	"errors"
	"fmt"
	"testing"
)

// TestS11EdgeLimitRefusesNewEdges holds that a full graph takes deletions and renewals, and that what is refused
// leaves no trace.
func TestS11EdgeLimitRefusesNewEdges(t *testing.T) {
	for _, directed := range []bool{false, true} {
		t.Run(fmt.Sprintf("directed=%t", directed), func(t *testing.T) {
			g := NewGraph(Options{Directed: directed})
			g.LimitEdges(3)
			full := func(updates ...Update) {
				t.Helper()
				// The new edges of a batch up to the limit are taken, the message that goes past it is not.
				accepted, rejects := g.Accept([]Message{{Updates: updates}})
				var u *UpdateError
				if len(accepted) != 0 || len(rejects) != 1 || !errors.As(rejects[0].Err, &u) ||
					u.Reason != ReasonGraphFull {
					t.Fatalf("accepted %v, refused %v", accepted, rejects)
				}
			}
			batch(t, g, ins("a", "b", ""), ins("a", "b", ""), ins("b", "c", ""))
			full(ins("c", "d", ""), ins("x", "y", "L")) // whole
			if _, ok := g.Lookup("d"); ok || g.Edges() != 2 {
				t.Fatal("the refused message left a trace")
			}
			batch(t, g, ins("c", "d", ""))
			full(ins("d", "e", ""))
			full(ins("a", "b", "L"))
			if directed {
				full(ins("b", "a", ""))
			} else {
				batch(t, g, ins("b", "a", ""))
			}
			batch(t, g, ins("a", "b", ""), del("a", "b", ""), ins("a", "b", "")) // renewed, deleted, inserted again
			if g.Edges() != 3 {
				t.Fatalf("%d edges", g.Edges())
			}
			// A refused message does not count for those behind it; what is deleted makes room for the next batch.
			msgs := []Message{
				{Updates: []Update{del("a", "b", ""), ins("p", "q", "")}},
				{Updates: []Update{del("a", "b", "")}},
				{Updates: []Update{ins("b", "c", "")}},
			}
			accepted, rejects := g.Accept(msgs)
			if len(accepted) != 2 || len(rejects) != 1 || rejects[0].Message != 0 || rejects[0].Update != 1 {
				t.Fatalf("accepted %v, refused %v", accepted, rejects)
			}
			if _, err := g.Stage(accepted); err != nil {
				t.Fatal(err)
			}
			g.Commit()
			batch(t, g, ins("p", "q", ""))
			full(ins("q", "r", ""))
			if g.Edges() != 3 {
				t.Fatalf("%d edges", g.Edges())
			}
		})
	}
}
