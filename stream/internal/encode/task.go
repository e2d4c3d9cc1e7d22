package encode

import (
	"context"

	"motifd/matcher"
)

// task is the unit of parallel encoding: copied rows of consecutive events, a few rows of many events or many rows of
// one. The copy lets the search go on.
type task[R any] struct {
	parts []part
	ids   []uint32 // rows of all parts
	rows  int

	// The result of its encoder. If the records are larger than expected, the encoder stops at mostHeld; the rest, from
	// row of part left on, is encoded when the task is sent.
	chunk *[]R
	cost  int64
	left  int
	row   int
	err   error
	done  chan struct{} // holds a token when its encoder is done
}

// part is an event with copied rows. finalize sets Rows.Data of ev.
type part struct {
	ev   matcher.Event
	rows int
}

// mostHeld limits the cost of a task's encoded records while earlier tasks are not sent. The last pieceRows records may
// exceed it.
const mostHeld = 2 * chunkBytes

// add copies rows i to j of an event.
func (u *task[R]) add(ev *matcher.Event, i, j int) {
	u.rows += j - i
	u.parts = append(u.parts, part{*ev, j - i})
	p := &u.parts[len(u.parts)-1]
	p.ev.FirstIndex += uint64(i)
	if ev.Kind == matcher.EventMatches {
		p.ev.Rows.Data = nil
		u.ids = append(u.ids, ev.Rows.Slice(i, j).Data...)
	}
}

// finalize sets the rows of the parts. No rows may be added afterwards.
func (u *task[R]) finalize() {
	at := 0
	for i := range u.parts {
		if p := &u.parts[i]; p.ev.Kind == matcher.EventMatches {
			n := p.rows * p.ev.Rows.Width()
			p.ev.Rows.Data = u.ids[at : at+n : at+n]
			at += n
		}
	}
}

// encode encodes the parts up to the limit mostHeld. It ends early when ctx is done.
func (u *task[R]) encode(ctx context.Context, s *Stage[R]) {
	u.chunk = s.newChunk()
	for ; u.left < len(u.parts); u.left, u.row = u.left+1, 0 {
		for x := &u.parts[u.left]; u.row < x.rows; {
			if u.cost >= mostHeld {
				return
			}
			if ctx.Err() != nil {
				u.err = context.Cause(ctx)
				return
			}
			j := min(x.rows, u.row+pieceRows)
			cost, err := s.encode(u.chunk, &x.ev, u.row, j)
			if u.err = err; err != nil {
				return
			}
			u.cost += cost
			u.row = j
		}
	}
}

func (s *Stage[R]) newTask() *task[R] {
	if u, ok := s.tasks.Get().(*task[R]); ok {
		return u
	}
	return &task[R]{done: make(chan struct{}, 1)}
}

// freeTask makes a task, whose chunk was sent, available again.
func (s *Stage[R]) freeTask(u *task[R]) {
	clear(u.parts)
	*u = task[R]{parts: u.parts[:0], ids: u.ids[:0], done: u.done}
	s.tasks.Put(u)
}
