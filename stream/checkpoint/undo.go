package checkpoint

import (
	"bytes"
	"fmt"

	"motifd/matcher"
)

// timeline walks the content of a checkpoint back and forth along the logged effects. Every step compares what it
// finds with what the effect says it must find.
type timeline struct {
	content *overlay
	state   state
	queries []matcher.QueryState
	// report takes what does not fit; it returns an error to stop. nil stops at the first.
	report func(error) error
}

func (t *timeline) problem(err error) error {
	if t.report == nil {
		return err
	}
	return t.report(err)
}

// change is one step of an effect, in memory of its own.
type change struct{ key, before, after []byte }

// undo takes the last committed batch back.
func (t *timeline) undo(batch uint64, o *done) error {
	note := func(err error) error { return t.problem(fmt.Errorf("undoing batch %d: %w", batch, err)) }
	older, newer, err := t.state.before(&o.effect)
	if err != nil {
		if err := note(err); err != nil {
			return err
		}
	}
	var steps []change
	err = changes(&o.effect, func(key, before, after []byte) error {
		steps = append(steps, change{bytes.Clone(key), bytes.Clone(before), bytes.Clone(after)})
		return nil
	})
	if err != nil {
		return err
	}
	for i := len(steps) - 1; i >= 0; i-- {
		s := &steps[i]
		if err := t.step(s.key, s.after, s.before, note); err != nil {
			return err
		}
	}
	t.state.batch, t.state.positions, t.state.older, t.state.newer = batch-1, o.positions, older, newer
	if o.queriesChanged {
		t.queries = o.queries
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

// redo does a batch that was undone again.
func (t *timeline) redo(batch uint64, o *done) error {
	note := func(err error) error { return t.problem(fmt.Errorf("redoing batch %d: %w", batch, err)) }
	older, newer, err := t.state.after(&o.effect)
	if err != nil {
		if err := note(err); err != nil {
			return err
		}
	}
	t.state.batch, t.state.older, t.state.newer = batch, older, newer
	return changes(&o.effect, func(key, before, after []byte) error { return t.step(key, before, after, note) })
}

// step replaces a record that must be what is expected.
func (t *timeline) step(key, expected, value []byte, note func(error) error) error {
	found, err := t.content.get(key)
	if err != nil {
		return err
	}
	if (found == nil) != (expected == nil) || !bytes.Equal(found, expected) {
		if err := note(damaged("record %s is %s instead of %s", keyName(key), valueName(found), valueName(expected))); err != nil {
			return err
		}
	}
	t.state.digests.replace(key, found, value)
	return t.content.put(key, value)
}

// keyName names a record of the content for a message.
func keyName(key []byte) string {
	if from, label, to, ok := parseEdge(key); ok && key[0] == spaceEdge {
		return fmt.Sprintf("edge (%d, %d, %d)", from, label, to)
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
