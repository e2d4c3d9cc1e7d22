package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
)

// LoadedPartition is the partition in the positions of updates that came through Load, and not through the input.
const LoadedPartition = -1

// ErrLoad is wrapped by the errors of updates that Load refuses.
var ErrLoad = errors.New("the vertices are not loaded")

// Load applies operations +v and =v in a batch of its own, all or none, between two batches of the input. A vertex that
// is not there is declared by =v as well, with the values that are named. Load answers with the number of the batch
// once that is in the batch log, and is withdrawn by ctx, as Change is. ErrLoad tells what is wrong with the updates.
func (p *Pipeline) Load(ctx context.Context, updates []dyngraph.Update) (batch uint64, err error) {
	if len(updates) == 0 {
		return 0, fmt.Errorf("%w: there are none", ErrLoad)
	}
	for i := range updates {
		if op := updates[i].Op; op != dyngraph.InsertVertex && op != dyngraph.ReviseVertex {
			return 0, fmt.Errorf("%w: update %d has op %q; it is +v or =v", ErrLoad, i, op.String())
		}
	}
	batch, _, err = p.request(ctx, changeRequest{load: slices.Clone(updates)})
	return batch, err
}

// ofInput returns the updates of a batch that came through the input: all of them, or none of a batch that was loaded.
// Those have no event time and no partition that could hold the watermark back.
func ofInput(updates []dyngraph.Update) []dyngraph.Update {
	if len(updates) > 0 && updates[0].Pos.Partition == LoadedPartition {
		return nil
	}
	return updates
}

// load makes a batch of updates that were loaded; see change.
func (p *Pipeline) load(abortCtx context.Context, updates []dyngraph.Update,
	answer func(batch, version uint64)) (refused, err error) {
	declared := make(map[string]bool)
	g := p.opt.Engine.Graph()
	several := g.Options().Schema.Several()
	for i := range updates {
		u := &updates[i]
		if _, there := g.Lookup(u.Key); !there && !declared[u.Key] {
			if several && u.Op == dyngraph.ReviseVertex { // the vertex has the labels that the update adds
				added := property.Value{}.Relabelled(u.Label)
				u.Label = property.JoinLabels(slices.Collect(added.EachLabel())...)
			}
			u.Op, u.Named, declared[u.Key] = dyngraph.InsertVertex, nil, true
		}
		u.Pos = dyngraph.Position{Partition: LoadedPartition, Element: int32(i)}
	}
	accepted, rejects := p.opt.Engine.Accept([]dyngraph.Message{{Updates: updates}})
	if len(rejects) > 0 {
		return fmt.Errorf("%w: update %d: %w", ErrLoad, rejects[0].Update, rejects[0].Err), nil
	}
	b := &Batch{}
	b.Updates = accepted
	answered := false
	err = p.newBatch(abortCtx, b, origin{logged: func() {
		answered = true
		answer(b.Number, 0)
	}})
	if err != nil && !answered {
		refused = ErrStopped
	}
	return refused, err
}
