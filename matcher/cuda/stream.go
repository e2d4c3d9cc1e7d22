//go:build cuda || emu

package cuda

import (
	"motifd/kernels"
	"motifd/matcher/cuda/device"
)

// stagingSize is the size of a stream's staging buffer, in bytes. Tests make it small.
var stagingSize = 1 << 20

// stagedStream is a stream with a page-locked staging buffer for small copies. The copies are queued like launches, so
// that a search waits for the device once and not for each copy.
type stagedStream struct {
	dev  kernels.Device
	q    kernels.Stream
	host []byte // the staging buffer, page-locked
	used int    // bytes of host that queued copies may use

	timed bool             // begin and end record events
	marks [2]kernels.Event // the beginning and the end of the timed work
}

// open allocates the stream, the buffer and the events once, and waits for copies that a failed search left queued.
func (s *stagedStream) open() (err error) {
	if s.q == nil {
		if s.q, err = s.dev.NewStream(); err != nil {
			return err
		}
	}
	if s.host == nil {
		if s.host, err = s.dev.AllocHost(stagingSize); err != nil {
			return err
		}
	}
	for i := range s.marks {
		if s.timed && s.marks[i] == nil {
			if s.marks[i], err = s.dev.NewEvent(); err != nil {
				return err
			}
		}
	}
	if s.used > 0 {
		s.wait()
	}
	return nil
}

// begin and end enclose the work that is timed.
func (s *stagedStream) begin() error { return s.mark(0) }
func (s *stagedStream) end() error   { return s.mark(1) }

func (s *stagedStream) mark(i int) error {
	if !s.timed {
		return nil
	}
	return s.q.Record(s.marks[i])
}

// elapsed returns the device time of the last timed work, in nanoseconds, after waiting for it.
func (s *stagedStream) elapsed() (int64, error) {
	if !s.timed {
		return 0, nil
	}
	if err := s.marks[1].Sync(); err != nil {
		return 0, err
	}
	ms, err := s.marks[1].Since(s.marks[0])
	return int64(1e6 * ms), err
}

// wait waits for all queued work. It ignores errors, which were reported when the work failed.
func (s *stagedStream) wait() {
	if s.q != nil {
		_ = s.q.Sync()
	}
	s.used = 0
}

// Free closes the stream and frees the buffer and the events.
func (s *stagedStream) Free() error {
	s.wait()
	var err error
	if s.host != nil {
		err = s.dev.FreeHost(s.host)
	}
	for _, e := range s.marks {
		if e != nil {
			if e := e.Close(); err == nil {
				err = e
			}
		}
	}
	if s.q != nil {
		if e := s.q.Close(); err == nil {
			err = e
		}
	}
	*s = stagedStream{dev: s.dev, timed: s.timed}
	return err
}

// sync waits for all queued work.
func (s *stagedStream) sync() error {
	err := s.q.Sync()
	s.used = 0
	return err
}

// room returns n bytes of the staging buffer. It waits for queued copies if the buffer is full, and returns nil if n
// exceeds its size.
func (s *stagedStream) room(n int) ([]byte, error) {
	if n > len(s.host) {
		return nil, nil
	}
	if s.used+n > len(s.host) {
		if err := s.sync(); err != nil {
			return nil, err
		}
	}
	at := s.host[s.used : s.used+n]
	s.used += (n + 7) &^ 7
	return at, nil
}

// write queues a copy of data to the device; data may change once it returns. Data larger than the staging buffer is
// copied before it returns.
func (s *stagedStream) write(dst kernels.Ptr, data []byte) error {
	at, err := s.room(len(data))
	if err != nil {
		return err
	}
	if at == nil {
		if err := s.sync(); err != nil {
			return err
		}
		return s.dev.Write(dst, data)
	}
	copy(at, data)
	return s.q.Write(dst, at)
}

// Put reserves room for data in a buffer that no queued work uses, and writes it.
func (s *stagedStream) Put(b *device.Buffer, data []byte) error {
	if _, err := b.Reserve(len(data)); err != nil || len(data) == 0 {
		return err
	}
	return s.write(b.Ptr, data)
}

// fetch is a copy from the device.
type fetch struct {
	dst []byte
	src kernels.Ptr
}

// read queues copies from the device and waits for all queued work. A caller that has other work to do calls it after
// the kernels have ended.
func (s *stagedStream) read(all ...fetch) error {
	n := 0
	for _, f := range all {
		n += len(f.dst)
	}
	from, err := s.room(n)
	if err != nil {
		return err
	}
	if from == nil {
		if err := s.sync(); err != nil {
			return err
		}
		for _, f := range all {
			if err := s.dev.Read(f.dst, f.src); err != nil {
				return err
			}
		}
		return nil
	}
	at := from
	for _, f := range all {
		if err := s.q.Read(at[:len(f.dst)], f.src); err != nil {
			return err
		}
		at = at[len(f.dst):]
	}
	if err := s.sync(); err != nil {
		return err
	}
	for _, f := range all {
		from = from[copy(f.dst, from):]
	}
	return nil
}
