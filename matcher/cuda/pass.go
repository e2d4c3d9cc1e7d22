//go:build cuda || emu

package cuda

import (
	"context"
	"errors"
	"slices"

	"motifd/kernels"
)

// pass searches the tasks in runner.task, in one launch or several: a launch ends early when the row buffer is full or
// a warp has made its turns.
type pass struct {
	run   *runner
	job   *job
	shape kernels.Shape
	p     kernels.Search
	c     kernels.Control // after the last launch
	flat  bool            // tasks are counted in blocks of matches first
	begun bool
}

// pass prepares the search of the first n tasks and clears the state of the pass before. Counting in blocks may leave
// left of them for wbm. It launches nothing.
func (r *runner) pass(j *job, n, left int) (*pass, error) {
	if err := r.stream.q.Clear(r.parked.Ptr, r.parked.Size); err != nil {
		return nil, err
	}
	if err := r.stream.q.Clear(r.box.Ptr, r.box.Size); err != nil {
		return nil, err
	}
	shared := func(at int) kernels.Ptr { return r.shared.Ptr + kernels.Ptr(at) }
	memo := j.both
	memo.Column, memo.Pair, memo.Vertices = shared(r.at.column), shared(r.at.pair), uint32(j.vertices)
	if j.memo {
		memo.Offer, memo.Known = r.memo.Ptr, r.known
	}
	s := &pass{run: r, job: j, shape: j.shape}
	s.p = kernels.Search{
		Graph:    j.graph,
		Programs: kernels.Programs{Program: r.program.Ptr, Owner: shared(r.at.owner), Image: r.image.Ptr},
		Memo:     memo,
		Queue: kernels.TaskQueue{Task: r.task.Ptr, Net: j.net, Control: r.control.Ptr, Parked: r.parked.Ptr,
			Box: r.box.Ptr, Mail: r.mail.Ptr, Tasks: uint32(n),
			Take: uint32(min(32, max(1, n/(4*s.shape.Warps())))), Slice: uint32(r.opt.Slice), Closing: kernels.None},
		Output: kernels.Output{Tally: r.shared.Ptr, Stop: shared(r.at.stop), Buffer: j.buffer,
			Capacity: uint64(j.room), Stride: uint32(j.stride)},
	}
	p := &s.p
	w := &p.Graph.Where
	w.Interval, w.Instr, w.Labels = r.interval.Ptr, r.instr.Ptr, r.labels.Ptr
	p.Graph.Sees = j.sees
	if j.old {
		p.Graph.Old = 1
	}
	if !r.opt.NoSteal {
		p.Queue.Steal = 1
	}
	if !r.opt.NoMail {
		p.Queue.Mailing = 1
	}
	if j.shared {
		p.Queue.Heeds = 1
	}
	if s.flat = j.levels > 0; s.flat {
		err := r.blocks(s, left)
		var short *kernels.MemoryError
		if errors.As(err, &short) { // the search does without
			s.flat = false
		} else if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// blocks allocates the memory that counting in blocks of matches needs.
func (r *runner) blocks(s *pass, left int) error {
	size, of := kernels.FlatsSize(s.job.levels), s.shape.Warps()
	if s.job.kind().Where {
		of *= 2 // those that warps work in, too
	}
	// Blocks are copied whole, with lanes that nothing was written to: initcheck would tell of them.
	if _, err := r.flatMail.Reserve(of * size); err != nil {
		return err
	}
	if _, err := r.flatBox.Claim(s.shape.Warps() * 4); err != nil {
		return err
	}
	// The largest is last: if it does not fit, little is allocated in vain.
	if _, err := r.left.Claim(left * taskSize); err != nil {
		return err
	}
	s.p.Queue.Left, s.p.Queue.FlatBox, s.p.Queue.FlatMail = r.left.Ptr, r.flatBox.Ptr, r.flatMail.Ptr
	s.p.Queue.FlatWords = uint32(size / 4)
	return r.stream.q.Clear(r.flatBox.Ptr, r.flatBox.Size)
}

// launch runs the search until it is done, the row buffer is full, or the warps have made their turns. In the last two
// cases the warps park their state, and the next launch continues. wait, if not nil, is called after the kernels are
// queued and returns when the stream is idle. After an error, work may still be running on the stream.
func (s *pass) launch(ctx context.Context, wait func() error) error {
	r := s.run
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &s.c
	flat, caughtUp, left := s.flat && !(s.begun && s.counted()), c.Next > c.Left, c.Left
	if s.flat {
		c.Next = min(c.Next, c.Left) // warps that find no task left advance Next beyond Left
	}
	// Busy counts the work in the mail.
	*c = kernels.Control{Used: c.Used, Next: c.Next, Taken: c.Taken, Left: c.Left, Busy: c.Busy}
	if turns := &s.job.turns; *turns > 0 {
		s.p.Queue.Slice = uint32(*turns)
		*turns = min(*turns+max(1, *turns/4), r.opt.Slice)
	}
	if err := r.stream.write(r.control.Ptr, kernels.BytesOf(c)); err != nil {
		return err
	}
	if err := r.stream.begin(); err != nil {
		return err
	}
	if flat {
		p := s.p
		p.Queue.Take = uint32(min(32, max(1, int(p.Queue.Tasks)/s.shape.Warps())))
		if err := kernels.RunFlat(r.stream.q, s.shape, s.job.kind(), p); err != nil {
			return err
		}
	}
	s.begun = true
	if err := kernels.RunSearch(r.stream.q, s.shape, s.job.kind(), s.p); err != nil {
		return err
	}
	if err := r.stream.end(); err != nil {
		return err
	}
	if wait != nil {
		if err := wait(); err != nil {
			return err
		}
	}
	control, tally := fetch{kernels.BytesOf(c), r.control.Ptr}, fetch{kernels.Bytes(r.tally), r.shared.Ptr}
	if err := r.stream.read(control, tally); err != nil {
		return err
	}
	var err error
	if r.took, err = r.stream.elapsed(); err != nil {
		return err
	}
	r.launches++
	r.busy += r.took
	r.stolen += uint64(c.Stolen)
	r.mailed += uint64(c.Shared)
	r.given += uint64(c.Given)
	r.kept += uint64(c.Held)
	if caughtUp {
		r.leftLater += uint64(c.Left - left)
	}
	if int(c.Used) > s.job.room+s.job.behind {
		return badOutput("%d rows, where there is room for %d", c.Used, s.job.room+s.job.behind)
	}
	return nil
}

// part runs the search until the row buffer is full or the search is done, and returns the number of rows in the row
// buffer. The next part overwrites them. Once the row buffer holds more than Closing rows, the kernels take no further
// tasks: the pass ends with the last anchor of which a task was taken.
func (s *pass) part(ctx context.Context, wait func() error, tasks []kernels.Task) (rows int, err error) {
	for {
		if err := s.launch(ctx, wait); err != nil {
			return 0, err
		}
		if err := s.job.meter.charge(s.run.tally, s.run.took); err != nil {
			return 0, err
		}
		if most := s.job.most; most > 0 && (s.full() ||
			!s.done() && float64(s.job.meter.saw[0]) > most+float64(s.c.Used)) {
			return 0, errDear
		}
		queue := &s.p.Queue
		if queue.Closing != kernels.None && (s.full() || s.idle() && s.c.Next < queue.Tasks) {
			end := min(s.c.Next, queue.Tasks)
			for end < queue.Tasks && tasks[end].Net == tasks[end-1].Net {
				end++
			}
			queue.Tasks, queue.Closing = end, kernels.None
		}
		if s.full() || s.done() {
			rows, s.c.Used = int(s.c.Used), 0
			s.run.rows += uint64(rows)
			return rows, nil
		}
	}
}

// full reports whether the row buffer must be emptied before the next launch.
func (s *pass) full() bool { return int(s.c.Used) > s.job.room }

// idle reports whether all tasks that were taken are complete.
func (s *pass) idle() bool { return s.c.Parked == 0 && s.c.Busy == 0 }

// counted reports whether counting in blocks of matches is complete.
func (s *pass) counted() bool { return s.c.Held == 0 && s.c.Taken >= s.p.Queue.Tasks }

// done reports whether all tasks are complete.
func (s *pass) done() bool {
	if s.flat {
		return s.idle() && s.counted() && s.c.Next >= s.c.Left
	}
	return s.idle() && s.c.Next >= s.p.Queue.Tasks
}

// drain reads the rows in the row buffer and hands them to found.
func (r *runner) drain(j *job, rows int) error {
	if rows == 0 {
		return nil
	}
	data := make([]uint32, rows*j.stride)
	if err := r.dev.Read(kernels.Bytes(data), j.buffer); err != nil {
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
