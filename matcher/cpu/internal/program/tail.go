package program

import (
	"fmt"
	"slices"
)

// Tail is the longest end of an order, of two steps or more, that is joined to one earlier step alone, the root, and of
// which at most one step, Apart, must differ from other earlier steps. How many images it has depends on the root's
// image, less those in which Apart has an image that is taken: counts remember it by the image of the root. Of a path
// that hangs on a pattern, most vertices have labels of their own.
type Tail struct {
	Number uint32 // equal for tails that have the same images at the same image of the root
	From   int    // first step
	Root   int    // step
	Apart  int    // step, or -1
	Differ []int  // steps before From, without the root, whose images Apart's must differ from
	Order  *Order // the order, in which the tail differs from itself and the root alone
}

// tailOf returns the tail of an order that counts by vertices, nil if it has none.
func (c *ListKeys) tailOf(o *Order) (t *Tail) {
	for from := len(o.Steps) - 2; from >= 2; from-- {
		if root, apart, ok := o.tailFrom(from); ok {
			t = &Tail{From: from, Root: root, Apart: apart}
		}
	}
	if t == nil {
		return nil
	}
	within := *o
	within.Steps = slices.Clone(o.Steps)
	for i := t.From; i < len(within.Steps); i++ {
		st := &within.Steps[i]
		st.MustDiffer = slices.DeleteFunc(slices.Clone(st.MustDiffer), func(k int) bool {
			other := k < t.From && k != t.Root
			if other {
				t.Differ = append(t.Differ, k)
			}
			return other
		})
	}
	if t.Order = &within; c.Still {
		return t
	}
	key := t.key(len(o.Forms))
	if c.tails == nil {
		c.tails = map[string]uint32{}
	}
	number, ok := c.tails[key]
	if !ok {
		number = uint32(len(c.tails))
		c.tails[key] = number
	}
	t.Number = number
	return t
}

// key returns a text that tails have in common which have the same images at the same image of the root, as often as a
// number of forms.
func (t *Tail) key(forms int) string {
	place := func(k int) int { // in the tail
		if k == t.Root {
			return -1
		}
		return k - t.From
	}
	key := fmt.Sprint(forms, t.Apart-t.From)
	for i := t.From; i < len(t.Order.Steps); i++ {
		st := &t.Order.Steps[i]
		key += ";"
		for _, b := range st.Back {
			key += fmt.Sprint(" ", b.ListKey, place(b.Step), b.Shares)
		}
		for _, k := range st.MustDiffer {
			key += fmt.Sprint(" !", place(k))
		}
		for _, l := range st.Less {
			key += fmt.Sprint(" <", place(l.Step), l.Greater)
		}
	}
	return key
}

// tailFrom returns the root of the steps from one on, and the one of them that must differ from others before; false if
// they are no tail.
func (o *Order) tailFrom(from int) (root, apart int, ok bool) {
	root, apart = -1, -1
	for i := from; i < len(o.Steps); i++ {
		for _, b := range o.Steps[i].Back {
			if b.Step < from && root >= 0 && root != b.Step {
				return 0, 0, false
			} else if b.Step < from {
				root = b.Step
			}
		}
	}
	other := func(k int) bool { return k < from && k != root }
	for i := from; i < len(o.Steps); i++ {
		st := &o.Steps[i]
		if st.Windows != nil || slices.ContainsFunc(st.Less, func(l Less) bool { return other(l.Step) }) {
			return 0, 0, false
		}
		if slices.ContainsFunc(st.MustDiffer, other) {
			if apart >= 0 {
				return 0, 0, false
			}
			apart = i
		}
	}
	return root, apart, true
}
