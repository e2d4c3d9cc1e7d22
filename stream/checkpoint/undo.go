package checkpoint

import (
	"fmt"

	"motifd/dyngraph"
	"motifd/matcher"
)

// timeline walks a checkpoint back along the logged effects.
type timeline struct {
	content  *overlay
	settings Settings
	state    state
	queries  []matcher.QueryState
	once     map[onceEntry]int64
	// report takes what does not fit; it returns an error to stop. nil stops at the first.
	report func(error) error
}

func (t *timeline) problem(err error) error {
	if t.report == nil {
		return err
	}
	return t.report(err)
}

// undo takes the last committed batch back. Its changes go to the overlay, which compares the values when it is read;
// the digests follow from the changes alone.
func (t *timeline) undo(batch uint64, o *done) error {
	note := func(err error) error { return t.problem(fmt.Errorf("undoing batch %d: %w", batch, err)) }
	older, newer, err := t.state.before(&o.effect)
	if err != nil {
		if err := note(err); err != nil {
			return err
		}
	}
	n := uint32(0)
	err = changes(&o.effect, t.settings.EdgeIDs, func(key, before, after []byte) error {
		t.state.digests.replace(key, after, before)
		n++
		return t.content.add(batch, n, key, before, after)
	})
	if err != nil {
		return err
	}
	t.state.batch, t.state.positions, t.state.older, t.state.newer = batch-1, o.positions, older, newer
	if o.queriesChanged {
		t.queries = o.queries
	}
	if err := undoOnce(t.once, o.once); err != nil {
		if err := note(err); err != nil {
			return err
		}
	}
	if o.declared != nil {
		t.settings.Properties, t.settings.Declaration = o.declared.Schema, o.declared.Step
	}
	if got, want := uint64(o.effect.LabelsBefore), t.state.digests.labels.count+1; got != want {
		if err := note(damaged("the batch began with %d labels, but %d are left", got, want)); err != nil {
			return err
		}
	}
	if err := t.state.digests.differ(o.digests); err != nil {
		return note(damaged("%v", err))
	}
	return nil
}

// keyName names a record of the content for a message.
func keyName(key []byte) string {
	if r, ok := parseEdge(key); ok && key[0] == spaceEdge {
		return edgeName(&r)
	}
	if id, ok := parseID(key); ok {
		switch key[0] {
		case spaceLabel:
			return fmt.Sprintf("label %d", id)
		case spaceVertex:
			return fmt.Sprintf("vertex %d", id)
		}
	}
	return fmt.Sprintf("%q", key)
}

func edgeName(r *dyngraph.EdgeRecord) string {
	if r.Attr.ID == "" {
		return fmt.Sprintf("edge (%d, %d, %d)", r.From, r.Label, r.To)
	}
	return fmt.Sprintf("edge (%d, %d, %d, %q)", r.From, r.Label, r.To, r.Attr.ID)
}

func valueName(v []byte) string {
	if v == nil {
		return "missing"
	}
	const shown = 64
	if len(v) > shown {
		return fmt.Sprintf("%q... (%d bytes)", v[:shown], len(v))
	}
	return fmt.Sprintf("%q", v)
}
