package encode

import (
	"context"

	"motifd/matcher"
)

// task is the unit of parallel encoding: rows of consecutive events (few of many or many of one), copied, so
// that the search need not wait.
type task[R any] struct {
	parts []part
	ids   []uint32 // rows of all parts
	rows  int

	// What its encoder made of it. Parts from left on, the first of them from row on, are not encoded: records are
	// larger than those before let expect, and what waits for its turn is bounded.
	chunk *[]R
	cost  int64
	left  int
	row   int
	err   error
	done  chan struct{} // has a token when its encoder is done
}

// part is an event with so many rows of its own, which it is given by finalize.
type part struct {
	ev   matcher.Event
	rows int
}

// mostHeld is how much the records of a task cost at most, but for pieceRows of them, before those of all tasks
// before it are sent.
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

// finalize gives the parts their rows. No rows are added afterwards.
func (u *task[R]) finalize() {
	at := 0
	for i := range u.parts {
		if p := &u.parts[i]; p.ev.Kind == matcher.EventMatches {
			n := p.rows * (p.ev.Rows.Vertices + p.ev.Rows.Edges)
			p.ev.Rows.Data = u.ids[at : at+n : at+n]
			at += n
		}
	}
}

// encode encodes what the bound admits. It ends early when ctx is done.
func (u *task[R]) encode(ctx context.Context, s *Stage[R], batch uint64) {
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
			cost, err := s.encode(u.chunk, batch, &x.ev, u.row, j)
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

// freeTask takes back a task whose chunk was sent.
func (s *Stage[R]) freeTask(u *task[R]) {
	clear(u.parts)
	*u = task[R]{parts: u.parts[:0], ids: u.ids[:0], done: u.done}
	s.tasks.Put(u)
}
