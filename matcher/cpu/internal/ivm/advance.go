package ivm

import (
	"math/bits"
	"slices"

	"motifd/matcher"
)

// Advance adds a phase of the staged batch, and the phase before it, to the numbers. It reports false if the set cannot
// compute the changes of the phase.
func (f *ViewSet) Advance(k *Maintainer, phase uint64) bool {
	for _, br := range f.views {
		if !br.built || br.outdated() {
			return false
		}
		br.grow(k.index.Vertices())
	}
	for p := phase &^ 1; p <= phase; p++ {
		if !f.advanceViews(k, p) {
			return false
		}
	}
	return f.advanceSums(k, phase)
}

// Overflowed reports whether a number exceeded 64 bits.
func (f *ViewSet) Overflowed() bool {
	return slices.ContainsFunc(f.views, func(br *treeView) bool { return br.overflow })
}

// advanceViews adds one phase to the numbers of the views.
func (f *ViewSet) advanceViews(k *Maintainer, phase uint64) bool {
	for _, br := range f.views {
		if br.phase >= phase {
			continue
		}
		if br.concerned(phase) && !haveAll(br.children, phase) || !br.apply(k, phase) {
			return false
		}
	}
	return true
}

// advanceSums computes the change of each quotient in a phase, which must be the last one of the views. The phase
// before it must be computed earlier, or is never needed.
func (f *ViewSet) advanceSums(k *Maintainer, phase uint64) bool {
	for _, t := range f.trees {
		if t.at[phase&1] == phase {
			continue
		}
		if !haveAll(t.views, phase) {
			return false
		}
		t.at[phase&1], t.by[phase&1] = phase, t.change(k)
	}
	return true
}

// haveAll reports whether a phase is the last one of all views.
func haveAll(of []*treeView, phase uint64) bool {
	return !slices.ContainsFunc(of, func(br *treeView) bool { return br.phase != phase })
}

// change returns the change of the number of homomorphisms in a phase that the views include. All terms have one sign.
func (t *treeSum) change(k *Maintainer) matcher.Count {
	k.products(t.views)
	var sum, large matcher.Count
	var carry uint64
	for i := range k.deltas {
		sum.Lo, carry = bits.Add64(sum.Lo, k.deltas[i].by, 0)
		sum.Hi += carry
	}
	for i := range k.large {
		large = large.Add(k.large[i].count(t.views))
	}
	return large.Add(sum)
}

// Sum adds up the signed changes of the quotients in a phase. The count changes by more minus less.
func (f *ViewSet) Sum(phase uint64) (more, less matcher.Count) {
	for _, t := range f.trees {
		n := t.by[phase&1].Mul(t.Factor)
		if t.Negative {
			less = less.Add(n)
		} else {
			more = more.Add(n)
		}
	}
	return more, less
}
