//go:build cuda || emu

package kernels

// Checked returns the device with each of its failures as an Error, so that callers can tell it from one of their own.
// A MemoryError stays what it is.
func Checked(d Device) Device {
	if _, ok := d.(checked); ok {
		return d
	}
	return checked{checkedQueue{d}, d}
}

func failed(op string, err error) error {
	if err == nil || OfDevice(err) {
		return err
	}
	return &Error{op, err}
}

type checkedQueue struct{ q Queue }

func (c checkedQueue) Info() Info { return c.q.Info() }

func (c checkedQueue) Write(dst Ptr, src []byte) error {
	return failed("a copy to it", c.q.Write(dst, src))
}

func (c checkedQueue) Read(dst []byte, src Ptr) error {
	return failed("a kernel, or a copy from it", c.q.Read(dst, src))
}

func (c checkedQueue) Clear(dst Ptr, bytes int) error {
	return failed("clearing memory", c.q.Clear(dst, bytes))
}

func (c checkedQueue) Launch(kernel string, blocks, threads int, params []byte) error {
	return failed("launching a kernel", c.q.Launch(kernel, blocks, threads, params))
}

func (c checkedQueue) Sync() error { return failed("a kernel", c.q.Sync()) }

type checked struct {
	checkedQueue
	d Device
}

func (c checked) Alloc(bytes int) (Ptr, error) {
	p, err := c.d.Alloc(bytes)
	return p, failed("an allocation", err)
}

func (c checked) Free(p Ptr) error { return failed("freeing memory", c.d.Free(p)) }

func (c checked) AllocMapped(bytes int) (Ptr, error) {
	p, err := c.d.AllocMapped(bytes)
	return p, failed("an allocation of mapped memory", err)
}

func (c checked) MoveNear(p Ptr, from, to int) (bool, error) {
	moved, err := c.d.MoveNear(p, from, to)
	return moved, failed("moving memory to it", err)
}

func (c checked) AllocHost(bytes int) ([]byte, error) {
	b, err := c.d.AllocHost(bytes)
	return b, failed("an allocation of host memory", err)
}

func (c checked) Poke(dst Ptr, word uint32) error {
	return failed("writing a word", c.d.Poke(dst, word))
}

func (c checked) FreeHost(b []byte) error { return failed("freeing host memory", c.d.FreeHost(b)) }

func (c checked) NewStream() (Stream, error) {
	s, err := c.d.NewStream()
	if err != nil {
		return nil, failed("making a stream", err)
	}
	return checkedStream{checkedQueue{s}, s}, nil
}

func (c checked) NewEvent() (Event, error) {
	e, err := c.d.NewEvent()
	if err != nil {
		return nil, failed("making an event", err)
	}
	return checkedEvent{e}, nil
}

func (c checked) Close() error { return failed("closing it", c.d.Close()) }

type checkedStream struct {
	checkedQueue
	s Stream
}

func (c checkedStream) Record(e Event) error {
	return failed("recording an event", c.s.Record(e.(checkedEvent).e))
}

func (c checkedStream) Close() error { return failed("freeing a stream", c.s.Close()) }

type checkedEvent struct{ e Event }

func (c checkedEvent) Sync() error { return failed("a kernel, or a copy", c.e.Sync()) }

func (c checkedEvent) Done() (bool, error) {
	done, err := c.e.Done()
	return done, failed("a kernel, or a copy", err)
}

func (c checkedEvent) Since(earlier Event) (float64, error) {
	ms, err := c.e.Since(earlier.(checkedEvent).e)
	return ms, failed("measuring", err)
}

func (c checkedEvent) Close() error { return failed("freeing an event", c.e.Close()) }
