//go:build cuda || emu

package kernels

// Checked returns the device with every failure of a copy or a kernel as an Error, so that callers can tell it from one of
// their own. A MemoryError stays what it is.
func Checked(d Device) Device {
	if _, ok := d.(checked); ok {
		return d
	}
	return checked{d}
}

type checked struct{ Device }

func failed(op string, err error) error {
	if err == nil || OfDevice(err) {
		return err
	}
	return &Error{op, err}
}

func (c checked) Alloc(bytes int) (Ptr, error) {
	p, err := c.Device.Alloc(bytes)
	return p, failed("an allocation", err)
}

func (c checked) Free(p Ptr) error { return failed("freeing memory", c.Device.Free(p)) }

func (c checked) Write(dst Ptr, src []byte) error {
	return failed("a copy to it", c.Device.Write(dst, src))
}

func (c checked) Read(dst []byte, src Ptr) error {
	return failed("a kernel, or a copy from it", c.Device.Read(dst, src))
}

func (c checked) Clear(dst Ptr, bytes int) error {
	return failed("clearing memory", c.Device.Clear(dst, bytes))
}

func (c checked) Launch(kernel string, blocks, threads int, params []byte) error {
	return failed("launching a kernel", c.Device.Launch(kernel, blocks, threads, params))
}

func (c checked) Sync() error { return failed("a kernel", c.Device.Sync()) }
