//go:build emu

package kernels

import (
	"slices"
	"time"
)

// emulatedStream does what it is asked late: when it has to, or when the seed says so. What is not held by events is
// therefore done in many orders, and memory that is touched before a copy is done shows.
type emulatedStream struct {
	e     *Emulator
	todo  []func() error
	done  int // how much of what was asked
	asked int
	err   error
	// events were recorded and have not happened yet.
	events []*emulatedEvent
}

// NewStream implements Device.
func (e *Emulator) NewStream() (Stream, error) {
	s := &emulatedStream{e: e}
	e.streams = append(e.streams, s)
	return s, nil
}

// AllocHost implements Device.
func (e *Emulator) AllocHost(bytes int) ([]byte, error) {
	b := make([]byte, bytes)
	for i := range b {
		b[i] = 0xa5
	}
	return b, nil
}

// FreeHost implements Device.
func (e *Emulator) FreeHost([]byte) error { return nil }

func (s *emulatedStream) ask(op func() error) error {
	s.todo = append(s.todo, op)
	s.asked++
	for s.e.rng.IntN(2) == 0 {
		some := s.e.streams[s.e.rng.IntN(len(s.e.streams))]
		some.until(min(some.done+1, some.asked))
	}
	return nil
}

// until does what is left of the first n things that were asked.
func (s *emulatedStream) until(n int) {
	for s.done < n {
		op := s.todo[0]
		s.todo = s.todo[1:]
		s.done++
		if err := op(); s.err == nil {
			s.err = err
		}
		s.happen()
	}
}

// happen notes when events happened.
func (s *emulatedStream) happen() {
	s.events = slices.DeleteFunc(s.events, func(v *emulatedEvent) bool {
		switch {
		case v.of != s: // recorded anew, elsewhere
			return true
		case v.at > s.done:
			return false
		}
		v.when = time.Now()
		return true
	})
}

func (s *emulatedStream) Info() Info { return s.e.Info() }

func (s *emulatedStream) Write(dst Ptr, src []byte) error {
	return s.ask(func() error { return s.e.Write(dst, src) })
}

func (s *emulatedStream) Read(dst []byte, src Ptr) error {
	return s.ask(func() error { return s.e.Read(dst, src) })
}

func (s *emulatedStream) Clear(dst Ptr, bytes int) error {
	return s.ask(func() error { return s.e.Clear(dst, bytes) })
}

func (s *emulatedStream) Launch(kernel string, blocks, threads int, params []byte) error {
	params = slices.Clone(params)
	return s.ask(func() error { return s.e.Launch(kernel, blocks, threads, params) })
}

func (s *emulatedStream) Sync() error {
	s.until(s.asked)
	err := s.err
	s.err = nil
	return err
}

func (s *emulatedStream) Record(e Event) error {
	ev := e.(*emulatedEvent)
	ev.of, ev.at = s, s.asked
	s.events = append(s.events, ev)
	s.happen()
	return nil
}

func (s *emulatedStream) Close() error {
	s.e.streams = slices.DeleteFunc(s.e.streams, func(x *emulatedStream) bool { return x == s })
	return s.Sync()
}

type emulatedEvent struct {
	of   *emulatedStream
	at   int
	when time.Time
}

// NewEvent implements Device.
func (e *Emulator) NewEvent() (Event, error) { return &emulatedEvent{}, nil }

func (v *emulatedEvent) Sync() error {
	if v.of == nil {
		return nil
	}
	v.of.until(v.at)
	return v.of.err
}

func (v *emulatedEvent) Done() (bool, error) {
	if v.of == nil {
		return true, nil
	}
	if v.of.done < v.at && v.of.e.rng.IntN(2) == 0 {
		v.of.until(v.of.done + 1)
	}
	return v.of.done >= v.at, v.of.err
}

// Since tells when the emulator did things. How long it took says nothing of a device.
func (v *emulatedEvent) Since(earlier Event) (float64, error) {
	return float64(v.when.Sub(earlier.(*emulatedEvent).when)) / 1e6, nil
}

func (v *emulatedEvent) Close() error { return nil }
