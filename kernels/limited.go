//go:build cuda || emu

package kernels

import (
	"errors"
	"sync"
)

// errLimit says why a limited device allocates no more.
var errLimit = errors.New("it is all that may be used; set engine.device_memory or --device-memory higher")

// Limited returns the device with less memory: allocations beyond a number of bytes fail with a *MemoryError, and Info
// tells of no more. What the driver needs for itself is not counted. 0, and more than there is, is no limit.
func Limited(d Device, bytes int64) Device {
	if bytes <= 0 || bytes >= d.Info().Memory {
		return d
	}
	return &limited{Device: d, most: bytes, size: map[Ptr]int64{}}
}

type limited struct {
	Device
	most int64

	mu   sync.Mutex
	used int64
	size map[Ptr]int64 // what of an allocation is on the device
}

// Info implements Device.
func (l *limited) Info() Info {
	i := l.Device.Info()
	i.Memory = l.most
	return i
}

// Alloc implements Device.
func (l *limited) Alloc(bytes int) (Ptr, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used+int64(bytes) > l.most {
		return 0, &MemoryError{Wanted: bytes, Err: errLimit}
	}
	p, err := l.Device.Alloc(bytes)
	if err == nil {
		l.size[p] = int64(bytes)
		l.used += int64(bytes)
	}
	return p, err
}

// MoveNear implements Device.
func (l *limited) MoveNear(p Ptr, from, to int) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	bytes := int64(to - from)
	if l.used+bytes > l.most {
		return false, &MemoryError{Wanted: to - from, Err: errLimit}
	}
	moved, err := l.Device.MoveNear(p, from, to)
	if moved {
		l.size[p] += bytes
		l.used += bytes
	}
	return moved, err
}

// Free implements Device.
func (l *limited) Free(p Ptr) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used -= l.size[p]
	delete(l.size, p)
	return l.Device.Free(p)
}
