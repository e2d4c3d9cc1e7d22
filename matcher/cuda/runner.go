//go:build cuda || emu

package cuda

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"motifd/kernels"
	"motifd/matcher"
)

// runner launches searches: it holds what they share on the device.
type runner struct {
	dev      kernels.Device
	opt      Options
	table    *table
	uploaded bool // the programs

	program, owner, task, tally, stop, control, parked, queue, ring, memo, column buffer

	turns int // of a warp in one launch, when fewer than Options.Slice
	// Stolen and shared count splits of work, in blocks and between them, since Load.
	stolen, shared uint64
	launches       uint64
}

func (r *runner) init(dev kernels.Device, opt Options) {
	*r = runner{dev: dev, opt: opt, table: &table{}}
	for _, b := range r.buffers() {
		b.dev = dev
	}
}

func (r *runner) buffers() []*buffer {
	return []*buffer{&r.program, &r.owner, &r.task, &r.tally, &r.stop, &r.control, &r.parked, &r.queue, &r.ring, &r.memo, &r.column}
}

func (r *runner) free() error {
	var first error
	for _, b := range r.buffers() {
		if err := b.free(); first == nil {
			first = err
		}
	}
	return first
}

// job is one search: tasks of programs that belong to requests.
type job struct {
	graph    kernels.Graph
	net      kernels.Ptr
	sees     uint32
	old      bool
	requests int
	owner    []uint32 // by program: request
	rows     bool     // output is expected
	vertices int      // bound of ids
	widths   []int    // by request: words of a row
	memo     bool     // there is room for one
	// data is what the present search has put out, up to limit words, as it lay in the ring; piece is called for each run of rows
	// in it, of one request and one net edge.
	data  []uint32
	limit int
	piece func(request, net uint32, from, to int)
}

// errFull is returned when a search puts out more than the job's limit: it is given up.
var errFull = errors.New("rows beyond the memory for them")

// begin uploads what the tasks of a job share.
func (r *runner) begin(j *job) error {
	if !r.uploaded {
		// A search that failed leaves nothing that the next one would not write again.
		if err := r.program.put(kernels.Bytes(r.table.programs)); err != nil {
			return err
		}
		r.uploaded = true
	}
	if err := r.owner.put(kernels.Bytes(j.owner)); err != nil {
		return err
	}
	if err := r.tally.put(kernels.Bytes(make([]kernels.Tally, j.requests))); err != nil {
		return err
	}
	if err := r.stop.put(kernels.Bytes(make([]uint32, j.requests))); err != nil {
		return err
	}
	if _, err := r.control.reserve(len(kernels.BytesOf(&kernels.Control{}))); err != nil {
		return err
	}
	if _, err := r.parked.reserve(r.opt.Shape.Warps() * kernels.ParkedSize); err != nil {
		return err
	}
	if _, err := r.queue.reserve(max(1, r.opt.Queue) * kernels.StateSize); err != nil {
		return err
	}
	ring := minRing
	if j.rows {
		ring = r.opt.Ring
	}
	if _, err := r.ring.reserve(ring); err != nil {
		return err
	}
	j.widths = make([]int, j.requests)
	for i, o := range j.owner {
		if o != kernels.None {
			j.widths[o] = int(r.table.programs[i].Vertices + r.table.programs[i].Edges)
		}
	}
	return r.forget(j)
}

// forget empties the memo: it holds for one phase of one batch. It takes no more memory than it may.
func (r *runner) forget(j *job) error {
	columns := slices.Repeat([]uint32{kernels.None}, max(1, len(r.table.columns)))
	used := 0
	for i, o := range j.owner {
		p := &r.table.programs[i]
		for g := range p.Groups {
			if c := p.Leaf[g].Column; o != kernels.None && columns[c] == kernels.None {
				columns[c] = uint32(used)
				used++
			}
		}
	}
	if err := r.column.put(kernels.Bytes(columns)); err != nil {
		return err
	}
	size := 4 * j.vertices * used
	j.memo = size > 0 && size <= r.opt.Memo
	if !j.memo {
		return nil
	}
	fresh, err := r.memo.reserve(size)
	var short *kernels.MemoryError
	if errors.As(err, &short) { // the search does without
		j.memo = false
		return nil
	}
	if err != nil || fresh {
		return err
	}
	return r.dev.Clear(r.memo.ptr, size)
}

// search does the tasks, in as many launches as output and patience need. Afterwards, also after an error, nothing of it is left.
func (r *runner) search(ctx context.Context, j *job, tasks []kernels.Task) error {
	j.data = j.data[:0]
	if len(tasks) == 0 {
		return nil
	}
	if err := r.task.put(kernels.Bytes(tasks)); err != nil {
		return err
	}
	if err := r.dev.Clear(r.control.ptr, r.control.size); err != nil {
		return err
	}
	if err := r.dev.Clear(r.parked.ptr, r.parked.size); err != nil {
		return err
	}
	warps := r.opt.Shape.Warps()
	p := kernels.Search{Graph: j.graph, Program: r.program.ptr, Owner: r.owner.ptr, Task: r.task.ptr, Net: j.net,
		Tally: r.tally.ptr, Stop: r.stop.ptr, Control: r.control.ptr, Parked: r.parked.ptr, Queue: r.queue.ptr, Ring: r.ring.ptr, Column: r.column.ptr, Vertices: uint32(j.vertices),
		RingWords: uint64(r.ring.size / 4), Tasks: uint32(len(tasks)), Take: uint32(min(32, max(1, len(tasks)/(4*warps)))),
		Sees: j.sees, QueueSize: uint32(r.opt.Queue), Slice: uint32(r.opt.Slice)}
	if r.turns > 0 {
		p.Slice = uint32(min(r.turns, r.opt.Slice))
	}
	if j.old {
		p.Old = 1
	}
	if j.memo {
		p.Memo = r.memo.ptr
	}
	if !r.opt.NoSteal {
		p.Steal = 1
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := kernels.Control{Full: ^uint64(0)}
		if err := r.dev.Read(kernels.BytesOf(&c), r.control.ptr); err != nil {
			return err
		}
		c.Used, c.Full, c.Parked, c.Busy, c.Idle, c.Stolen, c.Shared = 0, ^uint64(0), 0, 0, 0, 0, 0
		if err := r.dev.Write(r.control.ptr, kernels.BytesOf(&c)); err != nil {
			return err
		}
		if err := kernels.RunSearch(r.dev, r.opt.Shape, p); err != nil {
			return err
		}
		if err := r.dev.Read(kernels.BytesOf(&c), r.control.ptr); err != nil {
			return err
		}
		r.launches++
		r.stolen += uint64(c.Stolen)
		r.shared += uint64(c.Shared)
		if err := r.drain(j, min(c.Used, c.Full)); err != nil {
			return err
		}
		if c.Parked == 0 && c.Queued == 0 && c.Next >= p.Tasks {
			return nil
		}
	}
}

// drain reads what a launch put into the ring.
func (r *runner) drain(j *job, words uint64) error {
	if words == 0 {
		return nil
	}
	at := len(j.data)
	if words > uint64(j.limit-at) {
		return errFull
	}
	j.data = slices.Grow(j.data, int(words))[:at+int(words)]
	if err := r.dev.Read(kernels.Bytes(j.data[at:]), r.ring.ptr); err != nil {
		return err
	}
	for at < len(j.data) {
		if len(j.data)-at < 3 || int(j.data[at+1]) >= j.requests {
			return badOutput("a piece that is none, %d words before the end", len(j.data)-at)
		}
		net, request, n := j.data[at], j.data[at+1], int(j.data[at+2])
		from := at + 3
		at = from + n*j.widths[request]
		if n == 0 || at > len(j.data) {
			return badOutput("a piece of %d rows, %d words before the end", n, len(j.data)-from)
		}
		j.piece(request, net, from, at)
	}
	return nil
}

func badOutput(format string, args ...any) error {
	return &kernels.Error{Op: "a search", Err: fmt.Errorf("it put out "+format, args...)}
}

// tally is what was counted for a request. Numbers beyond 128 bits are not the device's: over tells that the count is void.
type tally struct {
	count matcher.Count
	steps uint64
	over  bool
}

// tallies returns what was counted, by request.
func (r *runner) tallies(n int) ([]tally, error) {
	t := make([]kernels.Tally, n)
	if err := r.dev.Read(kernels.Bytes(t), r.tally.ptr); err != nil {
		return nil, err
	}
	out := make([]tally, n)
	for i := range t {
		// A warp whose own sum does not fit has given the largest number.
		most := t[i].High == ^uint64(0) && t[i].Low == ^uint64(0)
		out[i] = tally{matcher.Count{Hi: t[i].High, Lo: t[i].Low}, t[i].Steps, t[i].Over != 0 || most}
	}
	return out, nil
}
