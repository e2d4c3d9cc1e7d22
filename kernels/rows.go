//go:build cuda || emu

package kernels

import "math/bits"

// Constants of rows.cuh.
const (
	rowThreads = 256
	maxFields  = 32
)

// Rows are rows to sort: N rows of Stride words. The first word is the group of the row, and the next Columns words are
// the sort key inside a group, most significant first. The caller owns all memory.
type Rows struct {
	Rows               Ptr
	N, Stride, Columns int
	Sort               Sort // its N and Bits are set by RunRowOrder
	Bits               Ptr  // of Stride words
}

// RowsBehind returns the number of rows that a warp may write after the row buffer is full: its last reservation, and
// the rows that it keeps in shared memory (emit.cuh). The buffer must have room for these. stride is the number of
// words of a row, each the number of rows of a match.
func RowsBehind(stride, each int) int {
	kept := outWords / stride
	return max(kept, warp*each) + kept
}

// RowOrder is an order of rows.
type RowOrder struct {
	Order Ptr // row numbers

	keys               Ptr
	shift, group, mask uint32
}

type rowBits struct {
	Rows, Bits Ptr
	N, Stride  uint32
}

type rowKeys struct {
	Rows, Order, Keys, Values Ptr
	N, Stride                 uint32
	Fields, _                 uint32
	Field                     [maxFields]uint32
}

type rowBounds struct {
	Keys, First Ptr
	N, Shift    uint32
	Group, Mask uint32
}

// Destination is the place to which the rows of a group are written: Word is the index of their first word in the
// output, First the index of their first row in the order, and Width the words of a row.
type Destination struct {
	Word         uint64
	First, Width uint32
}

type rowGather struct {
	Rows, Order, Out, Destination Ptr
	N, Stride                     uint32
	Width, _                      uint32
}

// RunRowBits computes the bits in which the columns of rows differ, for RunRowOrder.
func RunRowBits(q Queue, r Rows) error {
	if err := q.Clear(r.Bits, 4*r.Stride); err != nil {
		return err
	}
	p := rowBits{Rows: r.Rows, Bits: r.Bits, N: uint32(r.N), Stride: uint32(r.Stride)}
	return q.Launch("rowbits", flat(q, (r.N*r.Stride+3)/4), rowThreads, BytesOf(&p))
}

// RunRowOrder sorts rows. differ is the result of RunRowBits, by column; group is the group of any of the rows.
func RunRowOrder(q Queue, r Rows, differ []uint32, group uint32) (RowOrder, error) {
	var order RowOrder
	k := rowKeys{Rows: r.Rows, N: uint32(r.N), Stride: uint32(r.Stride)}
	s := r.Sort
	s.N, s.Bits = r.N, 0
	pass := func() error {
		k.Order, k.Keys, k.Values = order.Order, s.Keys[0], s.Values[0]
		if order.Order == s.Values[0] { // the other buffer is unused
			k.Values = s.Values[1]
			s.Values[0], s.Values[1] = s.Values[1], s.Values[0]
		}
		if err := q.Launch("rowkeys", flat(q, r.N), rowThreads, BytesOf(&k)); err != nil {
			return err
		}
		at, err := RunSort(q, s)
		order.Order, order.keys = s.Values[at], s.Keys[at]
		return err
	}
	field := func(column, n int) error {
		if n == 0 {
			return nil
		}
		if s.Bits+n > 64 || k.Fields == maxFields {
			if err := pass(); err != nil {
				return err
			}
			k.Fields, s.Bits = 0, 0
		}
		k.Field[k.Fields] = uint32(column | n<<8)
		k.Fields++
		s.Bits += n
		return nil
	}
	for c := r.Columns; c > 0; c-- {
		if err := field(c, bits.Len32(differ[c])); err != nil {
			return order, err
		}
	}
	n := bits.Len32(differ[0])
	if err := field(0, n); err != nil {
		return order, err
	}
	order.mask = uint32(uint64(1)<<n - 1)
	order.group = group &^ order.mask
	if n > 0 {
		order.shift = uint32(s.Bits - n)
	}
	err := pass()
	return order, err
}

// RunRowBounds writes the first row of every group to first, by group. For a group without rows it writes nothing.
func RunRowBounds(q Queue, r Rows, o RowOrder, first Ptr) error {
	p := rowBounds{Keys: o.keys, First: first, N: uint32(r.N), Shift: o.shift, Group: o.group, Mask: o.mask}
	return q.Launch("rowbounds", flat(q, r.N), rowThreads, BytesOf(&p))
}

// RunRowGather writes the rows in order, without their groups. They have one width, or destinations, if it is not 0,
// says by group where they are written.
func RunRowGather(q Queue, r Rows, o RowOrder, out Ptr, width int, destinations Ptr) error {
	p := rowGather{
		Rows:        r.Rows,
		Order:       o.Order,
		Out:         out,
		Destination: destinations,
		N:           uint32(r.N),
		Stride:      uint32(r.Stride),
		Width:       uint32(width),
	}
	return q.Launch("rowgather", flat(q, r.N), rowThreads, BytesOf(&p))
}
