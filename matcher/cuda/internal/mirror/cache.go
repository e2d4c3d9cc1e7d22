//go:build cuda || emu

package mirror

import (
	"errors"

	"motifd/kernels"
	"motifd/matcher/cuda/device"
)

// cache is where the device holds the entries of some vertices, if the graph does not fit its memory (DESIGN A25;
// kernels/defer.cuh). The lists of entries are in a pool of slots, each in adjacent slots, without gaps. Each has a
// frame, which tells where it is. A list is put where the cursor is, which goes round the pool; what lies there and is
// not pinned is evicted (a queue, as CLOCK without its bits). Nothing on the device changes a list: a vertex that a
// batch touches is dropped.
type cache struct {
	dev  kernels.Device
	dirs int
	// size is the memory for the pool and the frames, in bytes.
	size int

	memory                                device.Buffer // of the pool: its columns, and spans by frame
	row, nbr, ent, count, fence, fenceNbr kernels.Ptr
	span                                  kernels.Ptr
	frame                                 device.Buffer // by vertex
	net                                   device.Buffer // net edges of the staged batch
	staged                                []kernels.Net // the same on the host
	bits                                  []uint64      // of a vertex, while they are looked at
	entries, pieces, patches              device.Buffer // to be written to the pool
	entriesPage, piecesPage, patchesPage  device.Page   // the same on the host

	slots  uint32   // of the pool
	of     []uint32 // by vertex: its frame, or 0
	held   []list   // by frame; of frame 0: the ends of the chain of lists
	free   []uint32 // frames
	at     uint32   // the cursor
	ahead  uint32   // frame of the first list from the cursor on; 0: there is none
	round  uint32   // lists of this round are pinned
	change []uint32 // vertices whose frame the device does not know
	whole  bool     // the device knows no frame

	// How many lists, and entries, were copied, and how many lists made room for others.
	lists, moved, evicted uint64
}

// list is the entries of a vertex in the pool: both directions, one behind the other. Lists are chained by place.
type list struct {
	vertex, begin, n, pinned uint32
	before, behind           uint32
}

// The frame of vertices without entries, and the first of others.
const (
	emptyFrame = 1
	firstFrame = 2
)

// slotsEach is how many slots there are for each frame.
const slotsEach = 16

// errNoPool reports that there is no memory for any pool.
var errNoPool = errors.New("there is no room for the entries of a vertex beside those of all vertices")

// open makes the pool, once, and room for a number of vertices.
func (c *cache) open(vertices int) error {
	if c.memory.Ptr == 0 {
		if err := c.makePool(); err != nil {
			return err
		}
	}
	for len(c.of) < vertices {
		c.of, c.whole = append(c.of, make([]uint32, max(vertices-len(c.of), len(c.of)/8))...), true
	}
	fresh, err := c.frame.Reserve(4 * max(1, len(c.of)))
	c.whole = c.whole || fresh
	return err
}

// makePool allocates the pool, which is empty.
func (c *cache) makePool() (err error) {
	const leaf = kernels.LeafSlots
	frame := c.dirs * kernels.SpanSize
	slots := min(slotsEach*c.size/(slotsEach*(16+1)+frame), 1<<31)
	if slots <= 0 {
		return &kernels.MemoryError{Wanted: c.size, Err: errNoPool}
	}
	leaves := (slots + leaf - 1) / leaf
	frames := slots/slotsEach + firstFrame
	total := 0
	take := func(bytes int) (at int) {
		at = total
		total += (bytes + 255) &^ 255
		return at
	}
	row, fence := take(8*slots), take(8*leaves)
	nbr, ent, count, fenceNbr := take(4*slots), take(4*slots), take(4*leaves), take(4*leaves)
	span := take(frame * frames)
	p, err := c.dev.Alloc(total)
	if err != nil {
		return err
	}
	c.memory.Ptr, c.memory.Size = p, total
	defer func() {
		if err != nil { // the next call begins anew
			err = errors.Join(err, c.memory.Free())
		}
	}()
	at := func(offset int) kernels.Ptr { return p + kernels.Ptr(offset) }
	c.row, c.nbr, c.ent, c.count, c.fence, c.fenceNbr = at(row), at(nbr), at(ent), at(count), at(fence), at(fenceNbr)
	c.span, c.slots = at(span), uint32(slots)
	c.held = make([]list, frames)
	full := make([]uint32, leaves)
	for i := range full {
		full[i] = leaf
	}
	c.dropAll()
	if err := c.dev.Write(c.count, kernels.Bytes(full)); err != nil {
		return err
	}
	return c.dev.Clear(c.span, firstFrame*frame)
}

// Free frees all memory. Nothing is held then.
func (c *cache) Free() error {
	err := device.FreeAll([]*device.Buffer{&c.memory, &c.frame, &c.net, &c.entries, &c.pieces, &c.patches})
	for _, p := range []*device.Page{&c.entriesPage, &c.piecesPage, &c.patchesPage} {
		if e := p.Free(); err == nil {
			err = e
		}
	}
	return err
}

// dropAll empties the cache.
func (c *cache) dropAll() {
	clear(c.of)
	c.change, c.whole = c.change[:0], true
	c.held[0] = list{}
	c.at, c.ahead = 0, 0
	c.free = c.free[:0]
	for f := len(c.held) - 1; f >= firstFrame; f-- {
		c.free = append(c.free, uint32(f))
	}
}

// drop removes a vertex, if it is held.
func (c *cache) drop(v uint32) {
	if int(v) >= len(c.of) || c.of[v] == 0 {
		return
	}
	if f := c.of[v]; f != emptyFrame {
		c.unchain(f)
	}
	c.set(v, 0)
}

// set sets the frame of a vertex.
func (c *cache) set(v, frame uint32) {
	c.of[v] = frame
	if c.whole {
		return
	}
	if c.change = append(c.change, v); len(c.change) > 1<<10 && len(c.change) > len(c.of)/4 {
		c.change, c.whole = c.change[:0], true // copying all is cheaper
	}
}

func (c *cache) unchain(f uint32) {
	l := &c.held[f]
	c.held[l.before].behind, c.held[l.behind].before = l.behind, l.before
	if c.ahead == f {
		c.ahead = l.behind
	}
	c.free = append(c.free, f)
}

// pin keeps a vertex that is held until the next round begins.
func (c *cache) pin(v uint32) { c.held[c.of[v]].pinned = c.round }

// place makes room for the n entries of a vertex that is not held, and pins it. It returns the first slot, and false if
// pinned lists leave no room for it.
func (c *cache) place(v, n uint32) (begin uint32, ok bool) {
	if n == 0 {
		c.set(v, emptyFrame)
		return 0, true
	}
	for turns := 0; ; {
		end := c.slots
		if c.ahead != 0 {
			end = c.held[c.ahead].begin
		}
		switch l := &c.held[c.ahead]; {
		case n <= end-c.at && len(c.free) > 0:
			begin, c.at = c.at, c.at+n
			c.chain(v, begin, n)
			return begin, true
		case c.ahead == 0:
			if turns++; turns > 2 || n > c.slots {
				return 0, false
			}
			c.at, c.ahead = 0, l.behind
		case l.pinned == c.round:
			c.at, c.ahead = l.begin+l.n, l.behind
		default:
			c.evicted++
			c.drop(l.vertex)
		}
	}
}

// chain gives a vertex a frame, before that of the list ahead of the cursor.
func (c *cache) chain(v, begin, n uint32) {
	f := c.free[len(c.free)-1]
	c.free = c.free[:len(c.free)-1]
	before := c.held[c.ahead].before
	c.held[f] = list{vertex: v, begin: begin, n: n, pinned: c.round, before: before, behind: c.ahead}
	c.held[before].behind, c.held[c.ahead].before = f, f
	c.set(v, f)
}
