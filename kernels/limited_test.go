//go:build emu

package kernels

import (
	"errors"
	"testing"
)

// memoryOf is a device that only allocates.
type memoryOf struct {
	Device
	next Ptr
}

func (m *memoryOf) Info() Info { return Info{Memory: 1000} }

func (m *memoryOf) Alloc(bytes int) (Ptr, error) {
	m.next += 1000
	return m.next, nil
}

func (m *memoryOf) Free(Ptr) error { return nil }

// TestLimited allocates up to a limit, beyond it, and again what was freed.
func TestLimited(t *testing.T) {
	of := &memoryOf{}
	for _, most := range []int64{0, 1000, 2000} {
		if Limited(of, most) != Device(of) {
			t.Errorf("%d bytes are a limit", most)
		}
	}
	d := Limited(of, 100)
	if d.Info().Memory != 100 {
		t.Error(d.Info())
	}
	alloc := func(bytes int, ok bool) Ptr {
		t.Helper()
		p, err := d.Alloc(bytes)
		var short *MemoryError
		if (err == nil) != ok || !ok && (!errors.As(err, &short) || short.Wanted != bytes) {
			t.Errorf("%d bytes: %v", bytes, err)
		}
		return p
	}
	p := alloc(60, true)
	alloc(41, false)
	alloc(40, true)
	alloc(1, false)
	if err := d.Free(p); err != nil {
		t.Error(err)
	}
	alloc(61, false)
	alloc(60, true)
}
