package encode

import (
	"time"

	"motifd/matcher"
)

// firstRows is the number of rows in the first task of a batch, and the fewest that are worth a task: waking an encoder
// costs as much as a few records. Each further task is twice as large as the one before, up to a chunk.
const firstRows = 128

// size returns the number of rows at which the current task is full. By the mean cost so far they fit into a chunk.
func (b *Batch[R]) size() int {
	return min(b.rows, b.s.opt.ChunkRecords, int(chunkBytes/max(b.mean, 1))+1)
}

// gather adds rows i to n of an event to the current task, and hands over tasks that are full.
func (b *Batch[R]) gather(ev *matcher.Event, i, n int) error {
	begin := time.Now()
	for i < n {
		if b.task == nil {
			b.task = b.s.newTask()
		}
		j := min(n, i+max(1, b.size()-b.task.rows))
		b.task.add(ev, i, j)
		i = j
		if b.task.rows >= b.size() {
			b.work.add(begin)
			if err := b.handOver(); err != nil {
				return err
			}
			begin = time.Now()
		}
	}
	b.work.add(begin)
	return nil
}

// handOver gives the current task to the encoders when they have room for it. It first sends the finished tasks.
func (b *Batch[R]) handOver() error {
	for {
		got, err := b.receive(len(b.workers.flight) == b.workers.most())
		if err != nil {
			return err
		}
		if !got {
			break
		}
	}
	b.task.finalize()
	b.workers.put(b.task)
	b.task = nil
	b.rows = min(b.growth*b.rows, b.s.opt.ChunkRecords)
	return nil
}

// receive sends the oldest task, if it is encoded or wait is true. It returns false if it has sent none.
func (b *Batch[R]) receive(wait bool) (bool, error) {
	begin := time.Now()
	u, err := b.workers.next(wait)
	if u == nil || err != nil {
		return false, err
	}
	b.work.add(begin)
	if n := len(*u.chunk); n > 0 {
		b.mean = u.cost / int64(n)
	}
	if err := b.send(u.chunk, u.cost); err != nil {
		return false, err
	}
	for ; u.left < len(u.parts); u.left, u.row = u.left+1, 0 {
		x := &u.parts[u.left]
		if err := b.inline(&x.ev, u.row, x.rows); err != nil {
			return false, err
		}
	}
	b.s.freeTask(u)
	return true, b.flush()
}

// finish encodes the last rows and sends the rest.
func (b *Batch[R]) finish() error {
	if u := b.task; u != nil {
		if err := b.share(u); err != nil {
			return err
		}
	}
	for {
		if got, err := b.receive(true); !got || err != nil {
			return err
		}
	}
}

// share divides the rows of the last task among all encoders, or encodes them here if they are few.
func (b *Batch[R]) share(u *task[R]) error {
	b.task = nil
	u.finalize()
	if u.rows < 2*firstRows && len(b.workers.flight) == 0 {
		for i := range u.parts {
			if err := b.inline(&u.parts[i].ev, 0, u.parts[i].rows); err != nil {
				return err
			}
		}
		b.s.freeTask(u)
		return nil
	}
	threads := b.s.opt.Threads
	b.rows, b.growth = max(firstRows, (u.rows+threads-1)/threads), 1
	for i := range u.parts {
		if err := b.gather(&u.parts[i].ev, 0, u.parts[i].rows); err != nil {
			return err
		}
	}
	b.s.freeTask(u)
	if b.task == nil {
		return nil
	}
	return b.handOver()
}
