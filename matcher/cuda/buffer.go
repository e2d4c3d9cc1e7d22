//go:build cuda || emu

package cuda

import "motifd/kernels"

// buffer is device memory that grows. Growing loses the content.
type buffer struct {
	dev  kernels.Device
	ptr  kernels.Ptr
	size int // bytes
}

// reserve makes the buffer hold at least n bytes and tells whether it was replaced: then it holds zeros.
func (b *buffer) reserve(n int) (fresh bool, err error) {
	if fresh, err = b.claim(n); !fresh || err != nil {
		return fresh, err
	}
	return true, b.dev.Clear(b.ptr, b.size)
}

// claim makes the buffer hold at least n bytes and tells whether it was replaced: then it holds anything.
func (b *buffer) claim(n int) (fresh bool, err error) {
	if n <= b.size && b.ptr != 0 {
		return false, nil
	}
	if err := b.free(); err != nil {
		return false, err
	}
	n = (n + min(n/4, 16<<20) + 255) &^ 255
	n = max(n, 256)
	if b.ptr, err = b.dev.Alloc(n); err != nil {
		b.ptr = 0
		return false, err
	}
	b.size = n
	return true, nil
}

// put reserves room for data and writes it.
func (b *buffer) put(data []byte) error {
	if _, err := b.reserve(len(data)); err != nil || len(data) == 0 {
		return err
	}
	return b.dev.Write(b.ptr, data)
}

func (b *buffer) free() error {
	if b.ptr == 0 {
		return nil
	}
	p := b.ptr
	b.ptr, b.size = 0, 0
	return b.dev.Free(p)
}

// page is page-locked memory of the host that grows. Growing loses the content.
type page struct {
	dev  kernels.Device
	host []byte
}

// reserve returns the first n bytes; nothing may be under way in them.
func (p *page) reserve(n int) ([]byte, error) {
	if n > len(p.host) {
		if err := p.free(); err != nil {
			return nil, err
		}
		host, err := p.dev.AllocHost((n + n/4 + 4095) &^ 4095)
		if err != nil {
			return nil, err
		}
		p.host = host
	}
	return p.host[:n], nil
}

func (p *page) free() error {
	if p.host == nil {
		return nil
	}
	host := p.host
	p.host = nil
	return p.dev.FreeHost(host)
}
