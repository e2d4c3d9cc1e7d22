//go:build cuda || emu

package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cuda/device"
)

// runner launches searches. It holds the device memory that they share.
type runner struct {
	dev      kernels.Device
	stream   stagedStream // for all work of a search except the copies of rows
	opt      Options
	table    *table
	uploaded bool // the programs are on the device
	layers   int  // mirror.Mirror.Layers when they were uploaded

	program, image, interval, instr, labels                          device.Buffer
	shared, task, run, net, control, parked, box, mail, buffer, memo device.Buffer
	both                                                             device.Buffer // the memo of pairs of leaves

	left, flatBox, flatMail device.Buffer // for counts in blocks of matches
	space                   device.Buffer // of a whole graph

	// The values in the memo are at most most. Values up to known are from earlier searches and are not valid.
	known, most uint32

	kinds *kinds // the kinds whose net edges are in net
	at    sharedOffsets

	order orderer     // sorts rows
	page  device.Page // for work that other sides hand over

	tally []kernels.Tally // of the job, by request, after the last launch
	took  int64           // time of the last launch, in nanoseconds
	busy  int64           // time of all launches since Load, in nanoseconds

	trace *device.Trace // of the work of searches; may be nil
	short bool          // the graph does not fit the device
	stops bool          // searches may be stopped: see job.turns
	// Number of times that work was split since Load: inside blocks, and between them.
	stolen, mailed uint64
	launches       uint64
	// Counts in blocks of matches, since Load: parts given to other warps; blocks kept for the next launch; tasks not
	// suited to blocks that were left after the first such tasks were done.
	given, kept, leftLater uint64
	rows                   uint64    // rows found for sorting since Load
	spaces                 uint64    // spaces made since Load
	received               handovers // since Load
}

// sharedOffsets are the offsets of the parts of runner.shared, behind the tallies by request: the stop flags by
// request, the owners by program, the columns of the memo, the numbers of its pairs.
type sharedOffsets struct {
	stop, owner, column, pair int
}

func (r *runner) init(dev kernels.Device, opt Options) {
	*r = runner{dev: dev, stream: stagedStream{dev: dev, timed: opt.Clock != nil}, opt: opt, table: newTable()}
	r.order.init(dev, opt.RowMemory)
	r.page.Dev = dev
	for _, b := range r.buffers() {
		b.Dev = dev
	}
}

func (r *runner) buffers() []*device.Buffer {
	return []*device.Buffer{&r.program, &r.image, &r.interval, &r.instr, &r.labels, &r.shared, &r.task, &r.left,
		&r.space, &r.flatBox, &r.flatMail, &r.run, &r.net, &r.control, &r.parked, &r.box, &r.mail, &r.buffer, &r.memo,
		&r.both}
}

func (r *runner) Free() error {
	first := r.stream.Free() // waits for all work, so the other buffers are not in use
	for _, b := range r.buffers() {
		if err := b.Free(); first == nil {
			first = err
		}
	}
	for _, free := range []func() error{r.order.Free, r.page.Free} {
		if err := free(); first == nil {
			first = err
		}
	}
	return first
}

// job is one search: tasks of programs that belong to requests. on gives it to a side.
type job struct {
	graph     kernels.Graph // of the side
	net       kernels.Ptr   // of the side
	sees      uint32
	old       bool
	requests  int
	owner     []uint32     // by program: request
	vertices  int          // all vertex ids are below it
	neighbors int          // an upper bound of those of a vertex
	layers    int          // of its labels: mirror.Mirror.Layers
	memo      bool         // there is room for a memo
	both      kernels.Memo // its part for pairs of leaves, if there is room for it
	shared    bool         // several sides search, and hand work over
	levels    int          // of counting in blocks of matches that some tasks need; 0: none can be counted so
	where     bool         // some programs test conditions
	absent    bool         // some programs test negations

	stride  int // words of a row in the row buffer: its group, vertices, edges, and zeros
	columns int // vertices of the widest row
	buffer  kernels.Ptr
	room    int // rows that fill the row buffer
	behind  int // rows that the warps of a launch may write after the row buffer is full
	// found is called for rows that need no sorting, with their request as the group.
	found func(request uint32, row []uint32)
	shape kernels.Shape // grid of its searches
	meter *meter        // measures the cost; nil: not measured
	// turns is the number of turns of a warp in the next launch, 0 for Options.Slice. A search that may be stopped, and
	// one with a time limit, begins with short launches, each a quarter longer than the one before: so it ends soon
	// after it is stopped, compared with the time that it has run. A turn takes a microsecond or a hundred.
	turns int
	// most, if not 0, has the search be one wave, and be given up with errDear if its rows do not fit the row buffer,
	// or if it is not done and more than most of its steps have found no row.
	most float64
}

// errDear ends a search that is given up: see job.most. It is never wrapped.
var errDear = errors.New("another search is expected to cost less")

// leastTurns is the number of turns of a warp in the first launch of a search that may be stopped: 0.3 to 30 ms
// (docs/notebook/2026-11-gpu.md, The better side).
const leastTurns = 256

// on returns the job as one of a side.
func (j *job) on(s *side) *job {
	of, m := *j, s.mirror
	of.graph, of.net, of.neighbors, of.layers = m.Graph(), m.Net(), m.MostNeighbors(), m.Layers()
	of.meter = j.meter.another()
	if s.run.stops || of.meter.timed() {
		of.turns = min(leastTurns, s.run.opt.Slice)
	}
	return &of
}

// kind returns which of the kernels the job needs.
func (j *job) kind() kernels.Kind {
	ranges := j.graph.Base != 0 // their kernels are as those with conditions
	return kernels.Kind{Rows: j.found == nil, Where: j.where || ranges, Absent: j.absent, Ranges: ranges}
}

// shape chooses the grid of a job. Each warp may write a number of bytes (each) after the row buffer is full. Patterns
// with many automorphisms write rows in large portions; their jobs have fewer warps, so that the row buffer keeps three
// quarters of the memory for rows.
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

// begin uploads the data that all tasks of a job share.
func (r *runner) begin(j *job) error {
	if err := r.stream.open(); err != nil {
		return err
	}
	if err := r.upload(j.layers); err != nil {
		return err
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
			j.where = j.where || r.table.tests[i]
			j.absent = j.absent || r.table.absent[i]
			if p.Mode == kernels.ModeCount && !r.opt.NoFlat {
				j.levels = max(j.levels, int(p.Flat))
			}
			matches = max(matches, 1+int(p.Images))
		}
	}
	behind := 1 // one match of a request is enough, and a warp writes it alone
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
		if _, err := r.buffer.Reserve((minRows + j.behind) * 4 * j.stride); err != nil {
			return err
		}
		j.buffer, j.room = r.buffer.Ptr, minRows
	} else if err := r.order.begin(j, &r.stream); err != nil {
		return err
	}
	columns, used := r.numbers(j, len(r.table.columns), func(l *kernels.Leaf) int { return int(l.Column) })
	pairs, paired := r.numbers(j, len(r.table.pairs), func(l *kernels.Leaf) int { return int(l.Pair) - 1 })
	// One copy: small copies take about equally long, whatever their size.
	r.at.stop = j.requests * len(kernels.BytesOf(&kernels.Tally{}))
	r.at.owner = r.at.stop + 4*j.requests
	r.at.column = r.at.owner + 4*len(j.owner)
	r.at.pair = r.at.column + 4*len(columns)
	shared := make([]byte, r.at.pair+4*len(pairs))
	copy(shared[r.at.owner:], kernels.Bytes(j.owner))
	copy(shared[r.at.column:], kernels.Bytes(columns))
	copy(shared[r.at.pair:], kernels.Bytes(pairs))
	if err := r.stream.Put(&r.shared, shared); err != nil {
		return err
	}
	if err := r.forget(j, used); err != nil {
		return err
	}
	return r.forgetPairs(j, paired)
}

// upload copies the programs to the device, unless they are there. layers is how many bits of a label of the device
// tell parallel edges apart.
func (r *runner) upload(layers int) error {
	if r.uploaded && r.layers == layers {
		return nil
	}
	// The next search overwrites everything that a failed search leaves.
	r.uploaded, r.layers = false, layers
	t := r.table
	for _, c := range []struct {
		to   *device.Buffer
		data []byte
	}{{&r.program, kernels.Bytes(layeredPrograms(t.programs, layers))}, {&r.image, kernels.Bytes(t.images)},
		{&r.interval, kernels.Bytes(t.where.intervals)}, {&r.instr, kernels.Bytes(t.where.instrs)},
		{&r.labels, kernels.Bytes(layeredLabels(t.where.labels, layers))}} {
		if err := c.to.Put(c.data); err != nil {
			return err
		}
	}
	r.uploaded = true
	return nil
}

// numbers returns, for each of n memo columns or pairs of leaves of the programs, its number in a job, and how many of
// them the job has. of returns that of a leaf; negative: none.
func (r *runner) numbers(j *job, n int, of func(l *kernels.Leaf) int) (numbers []uint32, used int) {
	numbers = slices.Repeat([]uint32{kernels.None}, max(1, n))
	for i, o := range j.owner {
		p := &r.table.programs[i]
		for g := range p.Groups {
			if k := of(&p.Leaf[g]); o != kernels.None && k >= 0 && numbers[k] == kernels.None {
				numbers[k] = uint32(used)
				used++
			}
		}
	}
	return numbers, used
}

// leastPairBits is the least number of bits of a slot's number in the memo of pairs: 8 MiB stay in an H100's cache.
// Tests make it small.
var leastPairBits = 20

// pairTag: a slot of the memo of pairs has 64 bits, of which 32 are a count.
const pairTag = 32

// forgetPairs makes the memo of pairs of leaves empty. That memo has at most an eighth of the bytes of Options.Memo.
func (r *runner) forgetPairs(j *job, used int) error {
	m := &j.both
	*m = kernels.Memo{}
	if used == 0 || !j.memo {
		return nil
	}
	vertex := bits.Len(uint(max(1, j.vertices-1)))
	key := 2*vertex + bits.Len(uint(used-1))
	slot := max(min(leastPairBits, key), key-pairTag)
	if slot > 31 || 8<<slot > r.opt.Memo/8 {
		return nil
	}
	_, err := r.both.Claim(8 << slot)
	var short *kernels.MemoryError
	if errors.As(err, &short) {
		return nil
	}
	if err != nil {
		return err
	}
	m.Both, m.VertexBits, m.KeyBits, m.SlotBits = r.both.Ptr, uint32(vertex), uint32(key), uint32(slot)
	return r.stream.q.Clear(r.both.Ptr, 8<<slot)
}

// forget makes the memo empty, with a number of columns: a memo is valid for one phase of one batch. It stays within
// Options.Memo. The old values are not cleared. They become invalid because all new values are larger; when the range
// of numbers is exhausted, the memo is cleared.
func (r *runner) forget(j *job, used int) error {
	size := 4 * j.vertices * used
	j.memo = size > 0 && size <= r.opt.Memo
	if !j.memo {
		return nil
	}
	fresh, err := r.memo.Reserve(size)
	var short *kernels.MemoryError
	if errors.As(err, &short) { // the search does without a memo
		j.memo = false
		return nil
	}
	if err != nil {
		return err
	}
	above := uint64(j.neighbors) + 1
	if r.known = r.most; fresh || uint64(r.known)+above > math.MaxUint32 {
		r.known = 0
		if !fresh {
			err = r.stream.q.Clear(r.memo.Ptr, r.memo.Size)
		}
	}
	r.most = r.known + uint32(above)
	return err
}

// spread makes the tasks of runs on the device, n in all, from the net edges in net.
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

// tally is the count of a request. over is true if it exceeds 128 bits, which the device cannot count.
type tally struct {
	count matcher.Count
	over  bool
}

// counted returns the count of a request.
func counted(t *kernels.Tally) tally {
	// A warp whose own sum does not fit has written the largest number.
	most := t.High == ^uint64(0) && t.Low == ^uint64(0)
	return tally{matcher.Count{Hi: t.High, Lo: t.Low}, t.Over != 0 || most}
}
