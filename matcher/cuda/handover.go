//go:build cuda || emu

package cuda

import (
	"encoding/binary"
	"errors"

	"motifd/kernels"
)

// handover is the part of a pass that one side hands over to another between two launches: half of the tasks that are
// not begun, and half of the states that warps have parked. The two sides have arrays with the same layout, so a state
// means the same on both. The bytes are in page-locked memory of the side that receives them.
type handover struct {
	tasks, left []kernels.Task // not begun: of TaskQueue.task, and of TaskQueue.left
	parked      kept           // by warp: Parked of state.cuh
	flats       kept           // by warp: Flats of flatmail.cuh
	boxes       []byte         // by warp: state of the box that has these Flats
	inBlocks    bool           // the side that hands over counts in blocks
}

// kept has the states of the warps of a grid from warp from on; number of these warps have one.
type kept struct {
	from, number int
	bytes        []byte
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
	}{{&n.tasks, len(h.tasks)}, {&n.left, len(h.left)}, {&n.parked, h.parked.number}, {&n.held, h.flats.number}} {
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

// pageFor returns page-locked memory for a handover to the runner's side.
func (r *runner) pageFor(j *job) ([]byte, error) {
	n := 2 * j.shape.Warps() * kernels.ParkedSize
	if j.levels > 0 {
		n += j.shape.Warps() * (4 + kernels.FlatsSize(j.levels))
	}
	return r.page.Reserve(n)
}

// leastWork: a side hands work over if there is some for one of leastWork of its warps. If there is less, it is few
// long pieces, which another device does not make shorter. Not tuned.
const leastWork = 16

// handOver takes a part out of a pass between two launches, with memory of pageFor. It returns nil if the pass has too
// little work.
func (s *pass) handOver(page []byte) (*handover, error) {
	queue, c := &s.p.Queue, &s.c
	next := &c.Next
	if s.flat {
		next = &c.Taken
		c.Next = min(c.Next, c.Left)
	}
	*next = min(*next, queue.Tasks)
	todo := int(queue.Tasks - *next + c.Parked + c.Held)
	if s.flat {
		todo += int(c.Left - c.Next)
	}
	if leastWork*todo < s.shape.Warps() {
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
		err = s.takeFlats(h, page[2*s.shape.Warps()*kernels.ParkedSize:])
	}
	if err != nil {
		return nil, err
	}
	if err := r.stream.sync(); err != nil {
		return nil, err
	}
	if len(h.tasks)+len(h.left)+h.parked.number+h.flats.number == 0 { // one piece of each
		return nil, nil
	}
	return h, nil
}

// lastHalf returns a warp such that half of the warps that have something are from it on, and how many these are.
func lastHalf(warps int, has func(warp int) bool) (from, number int) {
	all := 0
	for w := range warps {
		if has(w) {
			all++
		}
	}
	for from = warps; number < all/2; {
		if from--; has(from) {
			number++
		}
	}
	return from, number
}

// takeParked takes half of the parked states. The tasks that those warps have taken and not begun stay.
func (s *pass) takeParked(h *handover, page []byte) error {
	const size = kernels.ParkedSize
	r, warps := s.run, s.shape.Warps()
	all := page[:warps*size]
	if err := r.stream.q.Read(all, r.parked.Ptr); err != nil {
		return err
	}
	if err := r.stream.sync(); err != nil {
		return err
	}
	from, number := lastHalf(warps, func(w int) bool { return wordAt(all, w*size+parkedLive) != 0 })
	taken := all[from*size:]
	stay := page[len(all):][:copy(page[len(all):], taken)]
	onlyTasks := 0
	for at := 0; at < len(stay); at += size {
		if wordAt(stay, at+parkedLive) != 0 && wordAt(stay, at+parkedMask) != 0 {
			onlyTasks++
		}
		clear(stay[at+parkedLive:][:4])
		clear(taken[at+parkedMask:][:4])
	}
	h.parked = kept{from, number, taken}
	s.c.Parked -= uint32(number - onlyTasks)
	if len(stay) == 0 {
		return nil
	}
	return r.stream.q.Write(r.parked.Ptr+kernels.Ptr(from*size), stay)
}

// takeFlats takes half of the blocks of matches that are held.
func (s *pass) takeFlats(h *handover, page []byte) error {
	r, warps, size := s.run, s.shape.Warps(), int(4*s.p.Queue.FlatWords)
	boxes := page[:4*warps]
	if err := r.stream.q.Read(boxes, r.flatBox.Ptr); err != nil {
		return err
	}
	if err := r.stream.sync(); err != nil {
		return err
	}
	from, number := lastHalf(warps, func(w int) bool { return wordAt(boxes, 4*w) >= postedBox })
	if number == 0 {
		return nil
	}
	h.boxes = boxes[4*from:]
	h.flats = kept{from, number, page[len(boxes):][:(warps-from)*size]}
	if err := r.stream.q.Read(h.flats.bytes, r.flatMail.Ptr+kernels.Ptr(from*size)); err != nil {
		return err
	}
	s.c.Held -= uint32(number)
	return r.stream.q.Clear(r.flatBox.Ptr+kernels.Ptr(4*from), len(h.boxes))
}

func wordAt(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }

// receive prepares a pass of what was handed over by another side's pass of the same job.
func (r *runner) receive(j *job, h *handover) (*pass, error) {
	n := len(h.tasks)
	if err := r.stream.Put(&r.task, kernels.Bytes(h.tasks)); err != nil {
		return nil, err
	}
	s, err := r.pass(j, n, n+max(1, len(h.left)))
	if err != nil {
		return nil, err
	}
	r.received.add(h)
	s.begun, s.c.Parked, s.c.Held = true, uint32(h.parked.number), uint32(h.flats.number)
	switch {
	case !h.inBlocks:
		s.flat, s.p.Queue.Left = false, 0
	case !s.flat: // there is no memory for it any more
		return s, &kernels.MemoryError{Wanted: len(h.flats.bytes),
			Err: errors.New("counting in blocks goes on elsewhere")}
	case len(h.left) > 0:
		s.c.Left = uint32(len(h.left))
		err = r.stream.write(r.left.Ptr, kernels.Bytes(h.left))
	default:
		s.c.Next, s.c.Left = 1, 1 // without tasks that were left, warps would not look for what is parked
	}
	if p := h.parked; err == nil && p.number > 0 {
		err = r.stream.q.Write(r.parked.Ptr+kernels.Ptr(p.from*kernels.ParkedSize), p.bytes)
	}
	if f := h.flats; err == nil && f.number > 0 {
		err = r.stream.q.Write(r.flatBox.Ptr+kernels.Ptr(4*f.from), h.boxes)
		if err == nil {
			err = r.stream.q.Write(r.flatMail.Ptr+kernels.Ptr(4*f.from*int(s.p.Queue.FlatWords)), f.bytes)
		}
	}
	return s, err
}
