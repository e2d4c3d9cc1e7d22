package ivm

import (
	"context"
	"fmt"

	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/labeladj"
)

// Verify compares the numbers in force with those of views built from the graph; tests call it. No batch is staged, and
// the last phase was the given one.
func (b *Views) Verify(adj *labeladj.Index, phase uint64) error {
	for _, br := range b.all {
		if !br.built || br.outdated() {
			continue
		}
		k := b.Maintainer(context.Background(), adj)
		anew := br.rebuilt(&k, phase)
		for v := range dyngraph.VertexID(b.g.IDBound()) {
			n := uint64(0)
			if int(v) < len(br.cells) {
				n = br.cell(v).n
			}
			if want := anew.cell(v).n; n != want {
				return fmt.Errorf("view %s has %d at vertex %d, not %d", br.key, n, v, want)
			}
		}
	}
	return nil
}

// rebuilt returns a copy of a view and its children, built from the graph.
func (br *treeView) rebuilt(k *Maintainer, phase uint64) *treeView {
	anew := *br
	anew.children, anew.cells = nil, nil
	for _, c := range br.children {
		anew.children = append(anew.children, c.rebuilt(k, phase))
	}
	anew.build(k, phase)
	return &anew
}
