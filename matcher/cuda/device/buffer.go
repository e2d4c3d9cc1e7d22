//go:build cuda || emu

package device

import (
	"errors"

	"motifd/kernels"
)

// Buffer is device memory that grows. Growing loses the content.
type Buffer struct {
	Dev  kernels.Device
	Ptr  kernels.Ptr
	Size int // bytes
}

// Reserve makes the buffer hold at least n bytes. fresh is true if it was replaced; then it holds zeros.
func (b *Buffer) Reserve(n int) (fresh bool, err error) {
	if fresh, err = b.Claim(n); !fresh || err != nil {
		return fresh, err
	}
	if err := b.Dev.Clear(b.Ptr, b.Size); err != nil { // the next call is to clear it, too
		return true, errors.Join(err, b.Free())
	}
	return true, nil
}

// Claim makes the buffer hold at least n bytes. fresh is true if it was replaced; then its content is undefined.
func (b *Buffer) Claim(n int) (fresh bool, err error) {
	if n <= b.Size && b.Ptr != 0 {
		return false, nil
	}
	if err := b.Free(); err != nil {
		return false, err
	}
	n = (n + min(n/4, 16<<20) + 255) &^ 255
	n = max(n, 256)
	if b.Ptr, err = b.Dev.Alloc(n); err != nil {
		b.Ptr = 0
		return false, err
	}
	b.Size = n
	return true, nil
}

// Put reserves room for data and writes it.
func (b *Buffer) Put(data []byte) error {
	if _, err := b.Reserve(len(data)); err != nil || len(data) == 0 {
		return err
	}
	return b.Dev.Write(b.Ptr, data)
}

// Free frees the memory.
func (b *Buffer) Free() error {
	if b.Ptr == 0 {
		return nil
	}
	p := b.Ptr
	b.Ptr, b.Size = 0, 0
	return b.Dev.Free(p)
}

// Page is page-locked memory of the host that grows. Growing loses the content.
type Page struct {
	Dev  kernels.Device
	Host []byte
}

// Reserve returns the first n bytes. No queued copy may use the page.
func (p *Page) Reserve(n int) ([]byte, error) {
	if n > len(p.Host) {
		if err := p.Free(); err != nil {
			return nil, err
		}
		host, err := p.Dev.AllocHost((n + n/4 + 4095) &^ 4095)
		if err != nil {
			return nil, err
		}
		p.Host = host
	}
	return p.Host[:n], nil
}

// Free frees the memory.
func (p *Page) Free() error {
	if p.Host == nil {
		return nil
	}
	host := p.Host
	p.Host = nil
	return p.Dev.FreeHost(host)
}

// FreeAll frees buffers and returns the first error.
func FreeAll(buffers []*Buffer) error {
	var first error
	for _, b := range buffers {
		if err := b.Free(); first == nil {
			first = err
		}
	}
	return first
}
