//go:build cuda || emu

package cuda

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cuda/device"
)

// runner launches searches: it holds what they share on the device.
type runner struct {
	dev      kernels.Device
	stream   stagedStream // of all work of a search but the copies of rows
	opt      Options
	table    *table
	uploaded bool // the programs

	program, image, shared, task, run, net, control, parked, box, mail, ring, memo device.Buffer

	left, flatBox, flatMail device.Buffer // of counts in blocks of matches

	// In the memo is nothing above most; what is not above known is of searches before.
	known, most uint32

	kinds *kinds // whose net edges are in net
	at    places

	order orderer // of rows

	tally []kernels.Tally // of the job, by request, after the last launch
	took  int64           // nanoseconds of the last launch

	// rows that a task of a batch gives, by what is searched, deletions and insertions; negative: not known
	rate  [2]float64
	turns int // of a warp in one launch, when fewer than Options.Slice
	// How often work was split since Load: in blocks, and between them.
	stolen, mailed uint64
	launches       uint64
	// Of blocks of matches, since Load: parts that went to other warps, blocks that were kept for the next launch, and
	// tasks that are not for blocks, which were left when those left before were done.
	given, kept, leftLater uint64
	rows                   uint64 // that were found to be put in order, since Load
}

// places are where parts of runner.shared are, behind the tallies by request: whether to stop, by request; owners, by
// program; columns of the memo.
type places struct {
	stop, owner, column int
}

func (r *runner) init(dev kernels.Device, opt Options) {
	*r = runner{dev: dev, stream: stagedStream{dev: dev, timed: opt.Clock != nil}, opt: opt, table: &table{}}
	r.order.init(dev, opt.RowMemory)
	for _, b := range r.buffers() {
		b.Dev = dev
	}
}

func (r *runner) buffers() []*device.Buffer {
	return []*device.Buffer{&r.program, &r.image, &r.shared, &r.task, &r.left, &r.flatBox, &r.flatMail, &r.run, &r.net,
		&r.control, &r.parked, &r.box, &r.mail, &r.ring, &r.memo}
}

func (r *runner) Free() error {
	first := r.stream.Free() // nothing is under way in the others then
	for _, b := range r.buffers() {
		if err := b.Free(); first == nil {
			first = err
		}
	}
	if err := r.order.Free(); first == nil {
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
	slots    int      // of the graph
	memo     bool     // there is room for one
	flat     bool     // some tasks are of counts that can be made by blocks of matches

	stride  int // words of a row in the ring: its group, vertices, edges, and zeros
	columns int // of the widest row's vertices
	ring    kernels.Ptr
	room    int // rows that fill the ring
	behind  int // rows that the warps of a launch may write to it once it is full
	// found is called for rows that are not to be put in order, with their request as the group.
	found func(request uint32, row []uint32)
	shape kernels.Shape // of its searches
	meter *meter        // of what is spent; nil when nobody measures
}

// shape chooses the grid of a job whose warps may write so many bytes behind the ring's end each: patterns with very
// many automorphisms, whose rows come in large portions, have fewer warps, so that the ring keeps three quarters of the
// memory for rows.
func (r *runner) shape(rows bool, each int) kernels.Shape {
	if r.opt.Shape.Warps() > 0 {
		return r.opt.Shape
	}
	s := kernels.Fill(r.dev.Info(), rows)
	if rows {
		s.Blocks = max(1, min(s.Blocks, r.opt.RowMemory/4/(s.BlockWarps*each)))
	}
	return s
}

// begin uploads what the tasks of a job share.
func (r *runner) begin(j *job) error {
	if err := r.stream.open(); err != nil {
		return err
	}
	if !r.uploaded {
		// A search that failed leaves nothing that the next one would not write again.
		if err := r.program.Put(kernels.Bytes(r.table.programs)); err != nil {
			return err
		}
		if err := r.image.Put(kernels.Bytes(r.table.images)); err != nil {
			return err
		}
		r.uploaded = true
	}
	if _, err := r.control.Reserve(len(kernels.BytesOf(&kernels.Control{}))); err != nil {
		return err
	}
	matches := 1 // that a row is written for each of
	for i, o := range j.owner {
		if o != kernels.None {
			p := &r.table.programs[i]
			j.columns = max(j.columns, int(p.Vertices))
			j.stride = max(j.stride, int(1+p.Vertices+p.Edges))
			j.flat = j.flat || !r.opt.NoFlat && p.Mode == kernels.ModeCount && p.Flat != 0
			matches = max(matches, 1+int(p.Images))
		}
	}
	behind := 1 // one match of a request is enough, and a warp writes it by itself
	if j.found == nil {
		behind = kernels.RowsBehind(max(j.stride, 1), matches)
	}
	r.tally = make([]kernels.Tally, j.requests)
	j.shape = r.shape(j.found == nil, behind*rowBytes(j.stride))
	warps := j.shape.Warps()
	j.behind = warps * behind
	if _, err := r.parked.Reserve(warps * kernels.ParkedSize); err != nil {
		return err
	}
	if _, err := r.box.Reserve(warps * 4); err != nil {
		return err
	}
	if _, err := r.mail.Reserve(warps * kernels.StateSize); err != nil {
		return err
	}
	if j.found != nil {
		if _, err := r.ring.Reserve((minRows + j.behind) * 4 * j.stride); err != nil {
			return err
		}
		j.ring, j.room = r.ring.Ptr, minRows
	} else if err := r.order.begin(j, &r.stream); err != nil {
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
	if err := r.stream.Put(&r.shared, shared); err != nil {
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

// forget has the memo, of so many columns, know nothing: it holds for one phase of one batch. It takes no more memory
// than it may. What is in it is not cleared but counts no more, as what is noted from here on is above it, until
// numbers end.
func (r *runner) forget(j *job, used int) error {
	size := 4 * j.vertices * used
	j.memo = size > 0 && size <= r.opt.Memo
	if !j.memo {
		return nil
	}
	fresh, err := r.memo.Reserve(size)
	var short *kernels.MemoryError
	if errors.As(err, &short) { // the search does without
		j.memo = false
		return nil
	}
	if err != nil {
		return err
	}
	above := uint64(j.slots) + 1
	if r.known = r.most; fresh || uint64(r.known)+above > math.MaxUint32 {
		r.known = 0
		if !fresh {
			err = r.stream.q.Clear(r.memo.Ptr, r.memo.Size)
		}
	}
	r.most = r.known + uint32(above)
	return err
}

// spread has the device make the tasks of runs, n in all, in net edges that are in net.
func (r *runner) spread(runs []kernels.Run, n int) error {
	if n == 0 {
		return nil
	}
	if err := r.stream.Put(&r.run, kernels.Bytes(runs)); err != nil {
		return err
	}
	if _, err := r.task.Claim(n * len(kernels.BytesOf(&kernels.Task{}))); err != nil {
		return err
	}
	return kernels.RunTasks(r.stream.q,
		kernels.Runs{Run: r.run.Ptr, Net: r.net.Ptr, Task: r.task.Ptr, Runs: uint32(len(runs)), Tasks: uint32(n)})
}

func badOutput(format string, args ...any) error {
	return &kernels.Error{Op: "a search", Err: fmt.Errorf("it put out "+format, args...)}
}

// tally is what was counted for a request. Numbers beyond 128 bits are not the device's: over tells that the count is
// void.
type tally struct {
	count matcher.Count
	over  bool
}

// counted returns what was counted for a request.
func (r *runner) counted(request int) tally {
	t := &r.tally[request]
	// A warp whose own sum does not fit has given the largest number.
	most := t.High == ^uint64(0) && t.Low == ^uint64(0)
	return tally{matcher.Count{Hi: t.High, Lo: t.Low}, t.Over != 0 || most}
}
