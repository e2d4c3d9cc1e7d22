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
	lane     lane // what everything of a search but the copies of rows is asked of
	opt      Options
	table    *table
	uploaded bool // the programs

	program, image, shared, task, run, net, control, parked, box, mail, ring, memo buffer

	left [2]buffer // tasks, of counts by blocks

	kinds *kinds // whose net edges are in net
	at    places

	order orderer // of rows

	turns int // of a warp in one launch, when fewer than Options.Slice
	// How often work was split since Load: in blocks, and between them.
	stolen, mailed uint64
	launches       uint64
}

// places are where parts of runner.shared are, behind the tallies by request: whether to stop, by request; owners, by program; columns of the memo.
type places struct {
	stop, owner, column int
}

func (r *runner) init(dev kernels.Device, opt Options) {
	*r = runner{dev: dev, lane: lane{dev: dev}, opt: opt, table: &table{}}
	r.order.init(dev, opt.RowMemory)
	for _, b := range r.buffers() {
		b.dev = dev
	}
}

func (r *runner) buffers() []*buffer {
	return []*buffer{&r.program, &r.image, &r.shared, &r.task, &r.left[0], &r.left[1], &r.run, &r.net, &r.control, &r.parked, &r.box, &r.mail, &r.ring, &r.memo}
}

func (r *runner) free() error {
	first := r.lane.free() // nothing is under way in the others then
	for _, b := range r.buffers() {
		if err := b.free(); first == nil {
			first = err
		}
	}
	if err := r.order.free(); first == nil {
		first = err
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
	vertices int      // bound of ids
	memo     bool     // there is room for one
	flat     bool     // some tasks are of counts that can be made by blocks of matches

	stride  int         // words of a row in the ring: its group, vertices, edges, and zeros
	columns int         // of the widest row's vertices
	ring    kernels.Ptr // of room rows
	room    int
	// found is called for rows that are not to be put in order, with their request as the group.
	found func(request uint32, row []uint32)
}

// errFull is returned when a search puts out more rows than there is room for: it is given up.
var errFull = errors.New("rows beyond the memory for them")

// shape is the grid of a job's searches.
func (r *runner) shape(j *job) kernels.Shape {
	if r.opt.Shape.Warps() > 0 {
		return r.opt.Shape
	}
	return kernels.Fill(r.dev.Info(), j.found == nil)
}

// begin uploads what the tasks of a job share.
func (r *runner) begin(j *job) error {
	if err := r.lane.open(); err != nil {
		return err
	}
	if !r.uploaded {
		// A search that failed leaves nothing that the next one would not write again.
		if err := r.program.put(kernels.Bytes(r.table.programs)); err != nil {
			return err
		}
		if err := r.image.put(kernels.Bytes(r.table.images)); err != nil {
			return err
		}
		r.uploaded = true
	}
	if _, err := r.control.reserve(len(kernels.BytesOf(&kernels.Control{}))); err != nil {
		return err
	}
	warps := r.shape(j).Warps()
	if _, err := r.parked.reserve(warps * kernels.ParkedSize); err != nil {
		return err
	}
	if _, err := r.box.reserve(warps * 4); err != nil {
		return err
	}
	if _, err := r.mail.reserve(warps * kernels.StateSize); err != nil {
		return err
	}
	for i, o := range j.owner {
		if o != kernels.None {
			p := &r.table.programs[i]
			j.columns = max(j.columns, int(p.Vertices))
			j.stride = max(j.stride, int(1+p.Vertices+p.Edges))
			j.flat = j.flat || !r.opt.NoFlat && p.Mode == kernels.ModeCount && p.Flat != 0
		}
	}
	if j.found != nil {
		if _, err := r.ring.reserve(minRows * 4 * j.stride); err != nil {
			return err
		}
		j.ring, j.room = r.ring.ptr, minRows
	} else if err := r.order.begin(j, &r.lane); err != nil {
		return err
	}
	columns, used := r.columns(j)
	// One copy, since each takes about as long as another.
	r.at.stop = j.requests * len(kernels.BytesOf(&kernels.Tally{}))
	r.at.owner = r.at.stop + 4*j.requests
	r.at.column = r.at.owner + 4*len(j.owner)
	shared := make([]byte, r.at.column+4*len(columns))
	copy(shared[r.at.owner:], kernels.Bytes(j.owner))
	copy(shared[r.at.column:], kernels.Bytes(columns))
	if err := r.lane.put(&r.shared, shared); err != nil {
		return err
	}
	return r.forget(j, used)
}

// columns returns the columns of the memo by those of the programs that a job has, and how many there are.
func (r *runner) columns(j *job) (columns []uint32, used int) {
	columns = slices.Repeat([]uint32{kernels.None}, max(1, len(r.table.columns)))
	for i, o := range j.owner {
		p := &r.table.programs[i]
		for g := range p.Groups {
			if c := p.Leaf[g].Column; o != kernels.None && columns[c] == kernels.None {
				columns[c] = uint32(used)
				used++
			}
		}
	}
	return columns, used
}

// forget empties the memo, of so many columns: it holds for one phase of one batch. It takes no more memory than it may.
func (r *runner) forget(j *job, used int) error {
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
	return r.lane.q.Clear(r.memo.ptr, size)
}

// spread has the device make the tasks of runs, n in all, in net edges that are in net.
func (r *runner) spread(runs []kernels.Run, n int) error {
	if n == 0 {
		return nil
	}
	if err := r.lane.put(&r.run, kernels.Bytes(runs)); err != nil {
		return err
	}
	if _, err := r.task.claim(n * len(kernels.BytesOf(&kernels.Task{}))); err != nil {
		return err
	}
	return kernels.RunTasks(r.lane.q, kernels.Runs{Run: r.run.ptr, Net: r.net.ptr, Task: r.task.ptr, Runs: uint32(len(runs)), Tasks: uint32(n)})
}

// search does the n tasks in task, in as many launches as output and patience need, and returns how many rows are in the job's ring, which
// only a job that takes none out of it has. wait, if it is not nil, is called after a launch and returns when all that was asked of the lane is done. After
// an error of the device or of wait some of it may be left.
func (r *runner) search(ctx context.Context, wait func() error, j *job, n int) (rows int, err error) {
	if n == 0 {
		return 0, nil
	}
	if err := r.lane.q.Clear(r.parked.ptr, r.parked.size); err != nil {
		return 0, err
	}
	if err := r.lane.q.Clear(r.box.ptr, r.box.size); err != nil {
		return 0, err
	}
	shape := r.shape(j)
	p := kernels.Search{Graph: j.graph, Program: r.program.ptr, Owner: r.shared.ptr + kernels.Ptr(r.at.owner), Task: r.task.ptr, Net: j.net,
		Tally: r.shared.ptr, Stop: r.shared.ptr + kernels.Ptr(r.at.stop), Control: r.control.ptr, Parked: r.parked.ptr, Box: r.box.ptr, Mail: r.mail.ptr, Ring: j.ring,
		Column: r.shared.ptr + kernels.Ptr(r.at.column), Vertices: uint32(j.vertices),
		RingRows: uint64(j.room), Stride: uint32(j.stride), Tasks: uint32(n), Take: uint32(min(32, max(1, n/(4*shape.Warps())))),
		Sees: j.sees, Slice: uint32(r.opt.Slice), Image: r.image.ptr}
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
	if !r.opt.NoMail {
		p.Mailing = 1
	}
	var c kernels.Control
	flat := j.flat && n >= flatLeast*shape.Warps()
	for i := 0; flat && i < len(r.left); i++ {
		_, err := r.left[i].claim(n * len(kernels.BytesOf(&kernels.Task{})))
		var short *kernels.MemoryError
		if errors.As(err, &short) { // the search does without
			flat, p.Left = false, [2]kernels.Ptr{}
			break
		}
		if err != nil {
			return 0, err
		}
		p.Left[i] = r.left[i].ptr
	}
	for first := true; ; first = false {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		c = kernels.Control{Used: c.Used, Full: ^uint64(0), Next: c.Next, Left: c.Left, Busy: c.Busy} // busy: work in the mail
		if err := r.lane.write(r.control.ptr, kernels.BytesOf(&c)); err != nil {
			return 0, err
		}
		if flat && first {
			if err := r.blocks(shape, p); err != nil {
				return 0, err
			}
		}
		if err := kernels.RunSearch(r.lane.q, shape, j.found == nil, p); err != nil {
			return 0, err
		}
		if wait != nil {
			if err := wait(); err != nil {
				return 0, err
			}
		}
		if err := r.lane.read(fetch{kernels.BytesOf(&c), r.control.ptr}); err != nil {
			return 0, err
		}
		r.launches++
		r.stolen += uint64(c.Stolen)
		r.mailed += uint64(c.Shared)
		full := c.Used > c.Full
		c.Used = min(c.Used, c.Full)
		if j.found != nil {
			if err := r.drain(j, int(c.Used)); err != nil {
				return 0, err
			}
			c.Used = 0
		} else if full {
			return 0, errFull
		}
		tasks := p.Tasks
		if flat {
			tasks = c.Left[1]
		}
		if c.Parked == 0 && c.Busy == 0 && c.Next >= tasks {
			return int(c.Used), nil
		}
	}
}

// flatLeast is the number of tasks a warp from which on blocks of matches are worth it: with fewer, warps wait for the last ones.
const flatLeast = 8

// blocks launches the counts that can be made by blocks of matches: what is little work, then pieces of what that leaves, one a block.
func (r *runner) blocks(shape kernels.Shape, p kernels.Search) error {
	p.Take = uint32(min(32, max(1, int(p.Tasks)/shape.Warps())))
	p.FlatTurns, p.FlatLong = uint32(r.opt.FlatTurns), uint32(r.opt.FlatLong)
	if err := kernels.RunFlat(r.lane.q, shape, p); err != nil {
		return err
	}
	p.Round, p.Take, p.FlatTurns, p.FlatLong = 1, 1, uint32(r.opt.FlatAgain), kernels.None
	return kernels.RunFlat(r.lane.q, shape, p)
}

// total does the tasks of runs, n in all, of a job that takes its rows out of the ring.
func (r *runner) total(ctx context.Context, j *job, runs []kernels.Run, n int) error {
	r.opt.Trace.begin(r.lane.q, LaneTotals, "search", 0)
	err := r.spread(runs, n)
	if err == nil {
		_, err = r.search(ctx, nil, j, n)
	}
	r.opt.Trace.end(r.lane.q, LaneTotals, "search", 0, n)
	if err != nil {
		r.lane.rest() // what it reads may change now
	}
	return err
}

// drain reads what a launch put into the ring.
func (r *runner) drain(j *job, rows int) error {
	if rows == 0 {
		return nil
	}
	data := make([]uint32, rows*j.stride)
	if err := r.dev.Read(kernels.Bytes(data), j.ring); err != nil {
		return err
	}
	for row := range slices.Chunk(data, j.stride) {
		if int(row[0]) >= j.requests {
			return badOutput("a row of group %d", row[0])
		}
		j.found(row[0], row[1:])
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
	if err := r.lane.read(fetch{kernels.Bytes(t), r.shared.ptr}); err != nil {
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
