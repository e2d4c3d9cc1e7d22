//go:build cuda

package kernels

// #cgo LDFLAGS: -lcuda
// extern int cuMemHostAlloc(void **p, size_t bytes, unsigned flags);
// #include <stddef.h>
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"gorgonia.org/cu"
)

// AllocHost implements Device. The binding has no function for it.
func (g *GPU) AllocHost(bytes int) (b []byte, err error) {
	err = g.call(func() error {
		var p unsafe.Pointer
		if status := int(C.cuMemHostAlloc(&p, C.size_t(bytes), 0)); status != 0 {
			return fmt.Errorf("%d MiB of page-locked memory: CUDA error %d", (bytes+1<<20-1)>>20, status)
		}
		b = unsafe.Slice((*byte)(p), bytes)
		return nil
	})
	return b, err
}

// AllocMapped implements Device. The memory is managed by the driver, with the advice that its pages stay on the host
// and are mapped, until MoveNear. Where the GPU has no such memory, it is page-locked. It fails before it takes the
// host's last memory: mapped memory cannot be swapped, and the system would end some process.
func (g *GPU) AllocMapped(bytes int) (Ptr, error) {
	if free, err := hostMemory(); err != nil {
		return 0, err
	} else if int64(bytes) > free-free/16 {
		return 0, &MemoryError{Wanted: bytes, Host: true, Err: fmt.Errorf("%d MiB are available", free>>20)}
	}
	if g.info.Moves {
		return g.allocManaged(bytes)
	}
	b, err := g.AllocHost(bytes)
	if err != nil {
		return 0, &MemoryError{Wanted: bytes, Host: true, Err: err}
	}
	p := Ptr(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) // the GPU has the same addresses
	if g.mapped == nil {
		g.mapped = map[Ptr][]byte{}
	}
	g.mapped[p] = b
	return p, nil
}

// onHost is the driver's number for the host, where a device is asked for.
const onHost = cu.Device(-1)

// allocManaged returns managed memory whose pages are on the host, and mapped for the GPU: it never faults.
func (g *GPU) allocManaged(bytes int) (p Ptr, err error) {
	err = g.call(func() error {
		d, err := cu.MemAllocManaged(int64(bytes), cu.AttachGlobal)
		if err != nil {
			return err
		}
		err = d.MemAdvise(int64(bytes), cu.SetPreferredLocation, onHost)
		if err == nil {
			err = d.MemAdvise(int64(bytes), cu.SetAccessedBy, g.device)
		}
		if err == nil {
			err = d.MemPrefetchAsync(int64(bytes), onHost, cu.NoStream)
		}
		if err == nil {
			err = cu.NoStream.Synchronize()
		}
		if err != nil {
			return errors.Join(err, cu.MemFree(d))
		}
		p = Ptr(d)
		return nil
	})
	if err != nil {
		return 0, &MemoryError{Wanted: bytes, Host: true, Err: err}
	}
	return p, nil
}

// MoveNear implements Device.
func (g *GPU) MoveNear(p Ptr, from, to int) (bool, error) {
	if !g.info.Moves {
		return false, nil
	}
	err := g.call(func() error {
		d, n := cu.DevicePtr(p+Ptr(from)), int64(to-from)
		if err := d.MemAdvise(n, cu.SetPreferredLocation, g.device); err != nil {
			return err
		}
		err := d.MemPrefetchAsync(n, g.device, cu.NoStream)
		if err == nil {
			return cu.NoStream.Synchronize()
		}
		back := d.MemAdvise(n, cu.SetPreferredLocation, onHost) // reads would have the pages migrate
		if err == cu.OutOfMemory {
			err = &MemoryError{Wanted: to - from, Err: err}
		}
		return errors.Join(err, back)
	})
	return err == nil, err
}

// FreeHost implements Device.
func (g *GPU) FreeHost(b []byte) error {
	return g.call(func() error { return cu.MemFreeHost(unsafe.Pointer(unsafe.SliceData(b))) })
}

// poker is what Poke needs, made at its first call.
type poker struct {
	mu     sync.Mutex
	stream Stream
	word   []byte
}

// Poke implements Device. It has a stream of its own.
func (g *GPU) Poke(dst Ptr, word uint32) (err error) {
	p := &g.poker
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stream == nil {
		if p.word == nil {
			if p.word, err = g.AllocHost(4); err != nil {
				return err
			}
		}
		if p.stream, err = g.NewStream(); err != nil {
			p.stream = nil
			return err
		}
	}
	copy(p.word, BytesOf(&word))
	if err := p.stream.Write(dst, p.word); err != nil {
		return err
	}
	return p.stream.Sync()
}

// gpuStream does not wait for what the GPU itself does, nor that for it.
type gpuStream struct {
	g *GPU
	s cu.Stream
}

// NewStream implements Device.
func (g *GPU) NewStream() (Stream, error) {
	s := &gpuStream{g: g}
	err := g.call(func() (err error) {
		s.s, err = cu.MakeStream(cu.NonBlocking)
		return err
	})
	return s, err
}

func (s *gpuStream) Info() Info { return s.g.info }

func (s *gpuStream) Write(dst Ptr, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	return s.g.call(func() error {
		return cu.MemcpyHtoDAsync(cu.DevicePtr(dst), unsafe.Pointer(unsafe.SliceData(src)), int64(len(src)), s.s)
	})
}

// smallRead is the size, in bytes, up to which a stream is read by the kernel fetch and not by the copy engine, which
// serves another stream's large copies first. Not tuned.
const smallRead = 1 << 20

func (s *gpuStream) Read(dst []byte, src Ptr) error {
	if len(dst) == 0 {
		return nil
	}
	// Addresses of page-locked memory are the same on the device.
	if to := Ptr(
		uintptr(unsafe.Pointer(unsafe.SliceData(dst))),
	); len(dst) <= smallRead && len(dst)%4 == 0 &&
		(to|src)%4 == 0 {
		return RunFetch(s, to, src, len(dst)/4)
	}
	return s.g.call(func() error {
		return cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(dst)), cu.DevicePtr(src), int64(len(dst)), s.s)
	})
}

func (s *gpuStream) Clear(dst Ptr, bytes int) error {
	if bytes == 0 {
		return nil
	}
	return s.g.call(func() error { return cu.MemsetD8Async(cu.DevicePtr(dst), 0, int64(bytes), s.s) })
}

func (s *gpuStream) Launch(kernel string, blocks, threads int, params []byte) error {
	return s.g.launch(s.s, kernel, blocks, threads, params)
}

func (s *gpuStream) Sync() error { return s.g.call(s.s.Synchronize) }

func (s *gpuStream) Record(e Event) error {
	return s.g.call(func() error { return e.(*gpuEvent).e.Record(s.s) })
}

func (s *gpuStream) Close() error { return s.g.call(s.s.Destroy) }

type gpuEvent struct {
	g *GPU
	e cu.Event
}

// NewEvent implements Device.
func (g *GPU) NewEvent() (Event, error) {
	e := &gpuEvent{g: g}
	err := g.call(func() (err error) {
		e.e, err = cu.MakeEvent(cu.DefaultEvent)
		return err
	})
	return e, err
}

func (e *gpuEvent) Sync() error { return e.g.call(e.e.Synchronize) }

func (e *gpuEvent) Done() (done bool, err error) {
	err = e.g.call(func() error {
		err := e.e.Query()
		if err == cu.NotReady {
			return nil
		}
		done = err == nil
		return err
	})
	return done, err
}

func (e *gpuEvent) Since(earlier Event) (ms float64, err error) {
	err = e.g.call(func() error {
		ms, err = earlier.(*gpuEvent).e.Elapsed(e.e)
		return err
	})
	return ms, err
}

func (e *gpuEvent) Close() error { return e.g.call(func() error { return cu.DestroyEvent(&e.e) }) }
