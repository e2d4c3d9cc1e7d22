//go:build cuda || emu

package cuda

import (
	"encoding/binary"
	"errors"

	"motifd/kernels"
)

// handover is the part of a pass that one side hands over to another between two launches: half of the tasks that are
// not begun, and what the warps of the second half of the grid keep for the next launch. All sides have equal arrays,
// so the state of a warp means the same on each. The bytes are in page-locked memory of the side that gets it.
type handover struct {
	tasks, left []kernels.Task // not begun; left are those that counting in blocks has left
	parked      []byte         // Parked of state.cuh, by warp
	boxes       []byte         // by warp: state of its box for blocks of matches
	flats       []byte         // by warp: the content of that box
	inBlocks    bool           // the side that hands over counts in blocks
	alive, held int            // how many warps have a State in parked, and Flats in flats
}

// handovers counts handovers, and those of them that have something of each kind.
type handovers struct {
	all, tasks, left, parked, held uint64
}

func (n *handovers) add(h *handover) {
	n.all++
	for _, c := range []struct {
		of  *uint64
		has int
	}{{&n.tasks, len(h.tasks)}, {&n.left, len(h.left)}, {&n.parked, h.alive}, {&n.held, h.held}} {
		if c.has > 0 {
			*c.of++
		}
	}
}

// Offsets in Parked, in bytes.
const (
	parkedLive = 4
	parkedMask = kernels.StateSize + 4
)

// postedBox is the state of a box with content of one level; that of more levels is greater (Box of mail.cuh).
const postedBox = 3

// half returns the number of warps in the first half of the grid, which keep their work.
func (s *pass) half() int { return (s.shape.Warps() + 1) / 2 }

// pageFor returns page-locked memory for a handover to a side.
func (r *runner) pageFor(j *job) ([]byte, error) {
	n := j.shape.Warps() * kernels.ParkedSize
	if j.levels > 0 {
		n += j.shape.Warps() * (4 + kernels.FlatsSize(j.levels))
	}
	return r.page.Reserve(n)
}

// handOver takes a part out of a pass between two launches, with memory of pageFor. It returns nil if less than half of
// the warps have work: what is left then is few long pieces of work, which another device does not make shorter.
func (s *pass) handOver(page []byte) (*handover, error) {
	queue, c := &s.p.Queue, &s.c
	next := &c.Next
	if s.flat {
		next = &c.Taken
		c.Next = min(c.Next, c.Left)
	}
	*next = min(*next, queue.Tasks)
	if int(queue.Tasks-*next)+int(c.Parked)+int(c.Held) < s.half() {
		return nil, nil
	}
	r, h := s.run, &handover{inBlocks: s.flat, tasks: make([]kernels.Task, (queue.Tasks-*next)/2)}
	queue.Tasks -= uint32(len(h.tasks))
	read := []fetch{{kernels.Bytes(h.tasks), r.task.Ptr + taskSize*kernels.Ptr(queue.Tasks)}}
	if s.flat {
		h.left = make([]kernels.Task, (c.Left-c.Next)/2)
		c.Left -= uint32(len(h.left))
		read = append(read, fetch{kernels.Bytes(h.left), r.left.Ptr + taskSize*kernels.Ptr(c.Left)})
	}
	err := r.stream.read(read...)
	if err == nil && c.Parked > 0 {
		err = s.takeParked(h, page)
	}
	if err == nil && c.Held > 0 {
		err = s.takeFlats(h, page)
	}
	if err != nil {
		return nil, err
	}
	return h, r.stream.sync()
}

// takeParked takes the states of the second half of the warps. The tasks that they have taken and not begun stay.
func (s *pass) takeParked(h *handover, page []byte) error {
	half, r := s.half(), s.run
	size, at := (s.shape.Warps()-half)*kernels.ParkedSize, r.parked.Ptr+kernels.Ptr(half*kernels.ParkedSize)
	taken, stay := page[:size], page[size:2*size]
	if err := r.stream.q.Read(taken, at); err != nil {
		return err
	}
	if err := r.stream.sync(); err != nil {
		return err
	}
	copy(stay, taken)
	onlyTasks := 0
	for i := 0; i < size; i += kernels.ParkedSize {
		if wordAt(stay, i+parkedLive) != 0 {
			h.alive++
			if wordAt(stay, i+parkedMask) != 0 {
				onlyTasks++
			}
		}
		clear(stay[i+parkedLive:][:4])
		clear(taken[i+parkedMask:][:4])
	}
	h.parked = taken
	s.c.Parked -= uint32(h.alive - onlyTasks)
	return r.stream.q.Write(at, stay)
}

// takeFlats takes the blocks of matches of the second half of the warps.
func (s *pass) takeFlats(h *handover, page []byte) error {
	half, r := s.half(), s.run
	n, size := s.shape.Warps()-half, int(4*s.p.Queue.FlatWords)
	page = page[2*n*kernels.ParkedSize:]
	h.boxes, h.flats = page[:4*n], page[4*n:][:n*size]
	at := r.flatBox.Ptr + kernels.Ptr(4*half)
	if err := r.stream.q.Read(h.boxes, at); err != nil {
		return err
	}
	if err := r.stream.q.Read(h.flats, r.flatMail.Ptr+kernels.Ptr(half*size)); err != nil {
		return err
	}
	if err := r.stream.sync(); err != nil {
		return err
	}
	for i := range n {
		if wordAt(h.boxes, 4*i) >= postedBox {
			h.held++
		}
	}
	s.c.Held -= uint32(h.held)
	return r.stream.q.Clear(at, 4*n)
}

func wordAt(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }

// receive prepares a pass of what was handed over by another side's pass of the same job.
func (r *runner) receive(j *job, h *handover) (*pass, error) {
	n := len(h.tasks)
	if err := r.stream.Put(&r.task, kernels.Bytes(h.tasks)); err != nil {
		return nil, err
	}
	s, err := r.pass(j, n, n+len(h.left))
	if err != nil {
		return nil, err
	}
	r.received.add(h)
	half := s.half()
	s.begun, s.c.Parked, s.c.Held = true, uint32(h.alive), uint32(h.held)
	switch {
	case !h.inBlocks:
		s.flat, s.p.Queue.Left = false, 0
	case !s.flat: // there is no memory for it any more
		return s, &kernels.MemoryError{Wanted: len(h.flats), Err: errors.New("counting in blocks goes on elsewhere")}
	case len(h.left) > 0:
		s.c.Left = uint32(len(h.left))
		err = r.stream.write(r.left.Ptr, kernels.Bytes(h.left))
	default:
		s.c.Next, s.c.Left = 1, 1 // without tasks that were left, warps would not look for what is parked
	}
	if err == nil && h.alive > 0 {
		err = r.stream.q.Write(r.parked.Ptr+kernels.Ptr(half*kernels.ParkedSize), h.parked)
	}
	if err == nil && h.held > 0 {
		err = r.stream.q.Write(r.flatBox.Ptr+kernels.Ptr(4*half), h.boxes)
		if err == nil {
			err = r.stream.q.Write(r.flatMail.Ptr+kernels.Ptr(4*half*int(s.p.Queue.FlatWords)), h.flats)
		}
	}
	return s, err
}
