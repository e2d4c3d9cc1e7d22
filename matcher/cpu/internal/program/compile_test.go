package program

import "testing"

// TestSortedTail covers the pattern vertices that the steps map in pattern order.
func TestSortedTail(t *testing.T) {
	for _, c := range []struct {
		vertices []int // by step
		tail     int
	}{
		{[]int{0, 1, 2, 3, 4, 5}, 6},
		{[]int{5, 4, 3, 2, 1, 0}, 3}, // the ends of the anchor and the last step
		{[]int{2, 3, 0, 1, 4, 5}, 6},
		{[]int{0, 1, 5, 4, 3, 2}, 1},
		{[]int{0, 4, 1, 5, 2, 3}, 2},
	} {
		o := &Order{}
		for _, v := range c.vertices {
			o.Steps = append(o.Steps, Step{Vertex: v})
		}
		if n := o.sortedVertices(); n != c.tail {
			t.Errorf("%v: %d", c.vertices, n)
		}
		o.Forms = make([]Form, 2)
		if n := o.sortedVertices(); n != 0 {
			t.Errorf("%v with images: %d", c.vertices, n)
		}
	}
}
