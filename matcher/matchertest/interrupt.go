package matchertest

import (
	"context"
	"errors"

	"motifd/matcher"
)

// Fail steps over a batch with an emit that fails at the given record index, and checks that Step returns that error.
// The batch must have such a record. After it everything is to be as before.
func (d *Driver) Fail(b *matcher.Batch, at uint64) {
	d.t.Helper()
	broken := errors.New("broken pipe")
	_, err := d.try(context.Background(), b, func(ev *matcher.Event) error {
		if at < ev.FirstIndex+uint64(ev.Records()) {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) {
		d.t.Fatalf("batch %d was to fail at record %d: %v", b.Number, at, err)
	}
}

// Interrupt steps over a batch whose context ends at the given record index. If Step notices, everything is to be as
// before, and it steps over the batch again.
func (d *Driver) Interrupt(b *matcher.Batch, at uint64) *Output {
	d.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out, err := d.try(ctx, b, func(ev *matcher.Event) error {
		if at < ev.FirstIndex+uint64(ev.Records()) {
			cancel()
		}
		return nil
	})
	switch {
	case err == nil:
		return out
	case !errors.Is(err, context.Canceled):
		d.t.Fatalf("batch %d was to be interrupted at record %d: %v", b.Number, at, err)
	}
	return d.Step(b)
}

// Interrupted steps over a query change and interrupts it at its first record.
func (d *Driver) Interrupted(ch *matcher.QueryChange) *Output {
	d.t.Helper()
	prepared, err := d.Engine.PrepareChange(ch)
	if err != nil {
		d.t.Fatal(err)
	}
	out, err := d.try(context.Background(), &matcher.Batch{Number: d.next(), Change: prepared},
		func(ev *matcher.Event) error {
			if ev.FirstIndex == 0 && !d.Engine.Interrupt(ev.Query.Name) {
				d.t.Error("there is nothing to interrupt")
			}
			return nil
		})
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}
