package matchertest

import (
	"reflect"
	"slices"
	"testing"

	"motifd/matcher"
)

// keptEvents are events of a step with a row of each, which are looked at again when the step settles: until then
// they mean what they meant.
type keptEvents struct {
	events []matcher.Event
	rows   [][]uint32
	at     []int // record of the row
}

// add keeps an event, whose records were written down last.
func (k *keptEvents) add(ev *matcher.Event, out *Output) {
	if ev.Kind != matcher.EventMatches || ev.Rows.Len() == 0 {
		return
	}
	k.events = append(k.events, *ev)
	k.rows = append(k.rows, slices.Clone(ev.Rows.Row(0)))
	k.at = append(k.at, len(out.Records)-ev.Rows.Len())
}

// check compares what the rows stand for, which is in the view as it was, with what was written down.
func (k *keptEvents) check(t testing.TB, out *Output) {
	t.Helper()
	for i := range k.events {
		ev, want := &k.events[i], &out.Records[k.at[i]]
		ev.Rows.Data = k.rows[i]
		identities(t, ev, 0)
		if got := MatchOf(ev.View, ev.Rows, 0); !reflect.DeepEqual(got, want.Match) {
			t.Errorf("batch %d: record %d was %v and is %v when the step settles", out.Number, want.Index, want.Match,
				got)
		}
		if ev.Anchor == nil {
			continue
		}
		if anchor, _ := anchorOf(ev.View, ev.AnchorEdge); ev.Anchor.Pos != want.Anchor || anchor != want.AnchorEdge {
			t.Errorf("batch %d: the anchor of record %d was %v and is %v when the step settles", out.Number, want.Index,
				want.Anchor, ev.Anchor.Pos)
		}
	}
}
