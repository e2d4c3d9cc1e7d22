//go:build cuda || emu

package cuda

import (
	"motifd/kernels"
	"motifd/matcher/cuda/device"
)

// laneRoom is the size of a lane's memory on the host, in bytes. Tests make it small.
var laneRoom = 1 << 20

// lane is a stream whose small copies go by way of page-locked memory of its own, so that they are queued as launches
// are: a search waits for the device once, and not for each of them.
type lane struct {
	dev  kernels.Device
	q    kernels.Stream
	host []byte // page-locked
	used int    // of it, by copies that may be under way

	timed bool             // somebody wants to know how long things take
	marks [2]kernels.Event // of what is timed: when it began, and ended
}

// open makes what there is one of, and waits for what a search that failed has left under way.
func (l *lane) open() (err error) {
	if l.q == nil {
		if l.q, err = l.dev.NewStream(); err != nil {
			return err
		}
	}
	if l.host == nil {
		if l.host, err = l.dev.AllocHost(laneRoom); err != nil {
			return err
		}
	}
	for i := range l.marks {
		if l.timed && l.marks[i] == nil {
			if l.marks[i], err = l.dev.NewEvent(); err != nil {
				return err
			}
		}
	}
	if l.used > 0 {
		l.rest()
	}
	return nil
}

// begin and end stand around what is timed.
func (l *lane) begin() error { return l.mark(0) }
func (l *lane) end() error   { return l.mark(1) }

func (l *lane) mark(i int) error {
	if !l.timed {
		return nil
	}
	return l.q.Record(l.marks[i])
}

// took returns the nanoseconds that the device was at what was timed last, which is done.
func (l *lane) took() (int64, error) {
	if !l.timed {
		return 0, nil
	}
	if err := l.marks[1].Sync(); err != nil {
		return 0, err
	}
	ms, err := l.marks[1].Since(l.marks[0])
	return int64(1e6 * ms), err
}

// rest waits until nothing is under way. What failed has been told.
func (l *lane) rest() {
	if l.q != nil {
		_ = l.q.Sync()
	}
	l.used = 0
}

func (l *lane) Free() error {
	l.rest()
	var err error
	if l.host != nil {
		err = l.dev.FreeHost(l.host)
	}
	for _, e := range l.marks {
		if e != nil {
			if e := e.Close(); err == nil {
				err = e
			}
		}
	}
	if l.q != nil {
		if e := l.q.Close(); err == nil {
			err = e
		}
	}
	*l = lane{dev: l.dev, timed: l.timed}
	return err
}

// sync waits for all that was asked of the lane.
func (l *lane) sync() error {
	err := l.q.Sync()
	l.used = 0
	return err
}

// room returns so much of the host's memory, after waiting if it has to, and nil when there is never as much.
func (l *lane) room(n int) ([]byte, error) {
	if n > len(l.host) {
		return nil, nil
	}
	if l.used+n > len(l.host) {
		if err := l.sync(); err != nil {
			return nil, err
		}
	}
	at := l.host[l.used : l.used+n]
	l.used += (n + 7) &^ 7
	return at, nil
}

// write copies data, which may change when it returns, after what was asked of the lane before. What there is no room
// for on the way is copied at once.
func (l *lane) write(dst kernels.Ptr, data []byte) error {
	at, err := l.room(len(data))
	if err != nil {
		return err
	}
	if at == nil {
		if err := l.sync(); err != nil {
			return err
		}
		return l.dev.Write(dst, data)
	}
	copy(at, data)
	return l.q.Write(dst, at)
}

// put reserves room for data in a buffer that nothing is under way in, and writes it.
func (l *lane) Put(b *device.Buffer, data []byte) error {
	if _, err := b.Reserve(len(data)); err != nil || len(data) == 0 {
		return err
	}
	return l.write(b.Ptr, data)
}

// fetch is a copy from the device.
type fetch struct {
	dst []byte
	src kernels.Ptr
}

// read makes copies after what was asked of the lane before, and waits for all of it. Who has something else to do
// until the kernels are done calls it then.
func (l *lane) read(all ...fetch) error {
	n := 0
	for _, f := range all {
		n += len(f.dst)
	}
	from, err := l.room(n)
	if err != nil {
		return err
	}
	if from == nil {
		if err := l.sync(); err != nil {
			return err
		}
		for _, f := range all {
			if err := l.dev.Read(f.dst, f.src); err != nil {
				return err
			}
		}
		return nil
	}
	at := from
	for _, f := range all {
		if err := l.q.Read(at[:len(f.dst)], f.src); err != nil {
			return err
		}
		at = at[len(f.dst):]
	}
	if err := l.sync(); err != nil {
		return err
	}
	for _, f := range all {
		from = from[copy(f.dst, from):]
	}
	return nil
}
