package stream

import (
	"time"

	"motifd/matcher"
)

// firstUnit is how many rows the first unit of a batch has, and the fewest that are worth a unit: to wake an encoder
// costs as much as a few records. Each one after it is twice as large, up to a chunk.
const firstUnit = 128

// size is how many rows make the unit at hand full: a chunk's at most, as far as is known of their size.
func (e *emitter) size() int {
	return min(e.rows, e.p.opt.ChunkRecords, int(chunkBytes/max(e.mean, 1))+1)
}

// gather adds rows i to n of an event to the unit at hand, and hands over units that are full.
func (e *emitter) gather(ev *matcher.Event, i, n int) error {
	begin := time.Now()
	for i < n {
		if e.task == nil {
			e.task = e.p.newEncodeTask()
		}
		j := min(n, i+max(1, e.size()-e.task.rows))
		e.task.add(ev, i, j)
		i = j
		if e.task.rows >= e.size() {
			e.piece.add(begin)
			if err := e.handOver(); err != nil {
				return err
			}
			begin = time.Now()
		}
	}
	e.piece.add(begin)
	return nil
}

// handOver hands the unit at hand to the encoders, when there is room for it, and sends what they have done.
func (e *emitter) handOver() error {
	for {
		got, err := e.receive(len(e.encoders.flight) == e.encoders.most())
		if err != nil {
			return err
		}
		if !got {
			break
		}
	}
	e.task.finalize()
	e.encoders.put(e.task)
	e.task = nil
	e.rows = min(e.growth*e.rows, e.p.opt.ChunkRecords)
	return nil
}

// receive sends the unit whose turn it is. It tells whether there was one.
func (e *emitter) receive(wait bool) (bool, error) {
	begin := time.Now()
	u, err := e.encoders.next(wait)
	if u == nil || err != nil {
		return false, err
	}
	e.piece.add(begin)
	if n := len(*u.chunk); n > 0 {
		e.mean = u.cost / int64(n)
	}
	if err := e.send(u.chunk, u.cost); err != nil {
		return false, err
	}
	for ; u.left < len(u.parts); u.left, u.row = u.left+1, 0 {
		x := &u.parts[u.left]
		if err := e.inline(&x.ev, u.row, x.rows); err != nil {
			return false, err
		}
	}
	e.p.freeEncodeTask(u)
	return true, e.flush()
}

// finish has the last rows encoded, and sends all that is left.
func (e *emitter) finish() error {
	if u := e.task; u != nil {
		if err := e.share(u); err != nil {
			return err
		}
	}
	for {
		if got, err := e.receive(true); !got || err != nil {
			return err
		}
	}
}

// share has the last rows encoded by all encoders, if they are worth it.
func (e *emitter) share(u *encodeTask) error {
	e.task = nil
	u.finalize()
	if u.rows < 2*firstUnit && len(e.encoders.flight) == 0 {
		for i := range u.parts {
			if err := e.inline(&u.parts[i].ev, 0, u.parts[i].rows); err != nil {
				return err
			}
		}
		e.p.freeEncodeTask(u)
		return nil
	}
	threads := e.p.opt.EncodeThreads
	e.rows, e.growth = max(firstUnit, (u.rows+threads-1)/threads), 1
	for i := range u.parts {
		if err := e.gather(&u.parts[i].ev, 0, u.parts[i].rows); err != nil {
			return err
		}
	}
	e.p.freeEncodeTask(u)
	if e.task == nil {
		return nil
	}
	return e.handOver()
}
