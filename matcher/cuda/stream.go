//go:build cuda || emu

package cuda

import (
	"motifd/kernels"
	"motifd/matcher/cuda/device"
)

// stagingSize is the size of a stream's staging buffer, in bytes. Tests make it small.
var stagingSize = 1 << 20

// stagedStream is a stream with a page-locked staging buffer for small copies, which are queued like launches: a search
// waits for the device once, not once a copy.
type stagedStream struct {
	dev  kernels.Device
	q    kernels.Stream
	host []byte // the staging buffer, page-locked
	used int    // bytes of it that copies in flight may use

	timed bool             // begin and end record events
	marks [2]kernels.Event // the beginning and the end of what is timed
}

// open allocates what is missing, and waits for what a failed search left in flight.
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

// elapsed returns the device time of the work timed last, in nanoseconds. It has ended.
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

// wait waits until nothing is in flight. Errors have been reported by then.
func (s *stagedStream) wait() {
	if s.q != nil {
		_ = s.q.Sync()
	}
	s.used = 0
}

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

// room returns n bytes of the staging buffer, after a wait if it is full; nil if it is smaller than that.
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

// write queues a copy of data to the device; data may change once it returns. Data beyond the staging buffer is copied
// at once.
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

// Put reserves room for data in a buffer that no work in flight uses, and writes it.
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

// read queues copies from the device and waits for all queued work. A caller with other work to do until the kernels
// have ended calls it then.
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
