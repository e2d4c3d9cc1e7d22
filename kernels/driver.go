//go:build cuda

package kernels

// #cgo LDFLAGS: -ldl
// #pragma weak motifdDriver
// extern int motifdDriver(const char **why);
//
// // driver returns what the driver said at its start. Without loader.c a failure would have ended the program.
// static int driver(const char **why) { return motifdDriver ? motifdDriver(why) : 0; }
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"gorgonia.org/cu"
)

// MinDriver is the oldest driver, as cu.Version counts, that loads the kernels: CUDA 11.0, PTX ISA 7.0.
const MinDriver = 11000

// ForcePTX names the variable that keeps the GPU from cubins if it is 1. It is the driver's own, which refuses cubins
// then.
const ForcePTX = "CUDA_FORCE_PTX_JIT"

// GPU is an NVIDIA GPU, driven through a context of its own. The driver ties contexts to threads: every call holds
// its thread and makes the context that thread's. (A thread that makes all calls would add the time of two switches
// of threads to each.)
type GPU struct {
	info      Info
	device    cu.Device
	ctx       cu.CUContext
	modules   []cu.Module
	functions map[string]cu.Function
	loading   sync.Mutex     // of kernels that are loaded late
	mapped    map[Ptr][]byte // memory of AllocMapped that is page-locked
	poker     poker
}

// OpenGPU opens a device by its number and loads the kernels. ErrNoDriver, ErrOldDriver, ErrNoDevice, ErrOldDevice
// and MemoryError say what is missing; other errors are the driver's.
//
// The CUDA binding initialises the driver before main, and ends the process when that fails. Linked against
// loader/loader.c in place of the driver's library, as headers.sh has it, the program lives on and gets its error
// here.
func OpenGPU(number int) (*GPU, error) {
	if err := driverError(); err != nil {
		return nil, err
	}
	g := &GPU{functions: map[string]cu.Function{}}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, err := g.open(number)
	if errors.Is(err, cu.OutOfMemory) { // of the context, or of a kernel
		err = &MemoryError{Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("opening GPU %d: %w", number, err)
	}
	g.ctx = ctx
	return g, nil
}

// CountGPUs returns the number of GPUs; 0 also if there is no driver to work with, of which OpenGPU tells.
func CountGPUs() int {
	if driverError() != nil {
		return 0
	}
	n, err := cu.NumDevices()
	if err != nil {
		return 0
	}
	return n
}

// driverError tells why there is no driver to work with.
func driverError() error {
	var why *C.char
	status := int(C.driver(&why))
	switch {
	case why != nil:
		return fmt.Errorf("%w: %s", ErrNoDriver, C.GoString(why))
	case status == int(cu.NoDevice):
		return ErrNoDevice
	case status != 0: // the name is in a table of the binding's
		return fmt.Errorf("%w: its initialisation failed with CUDA error %d", ErrNoDriver, status)
	}
	if v := cu.Version(); v < MinDriver {
		return fmt.Errorf("%w: it is for CUDA %d.%d", ErrOldDriver, v/1000, v%1000/10)
	}
	return nil
}

func (g *GPU) open(number int) (ctx cu.CUContext, err error) {
	n, err := cu.NumDevices()
	if err != nil {
		return ctx, err
	}
	if n == 0 {
		return ctx, ErrNoDevice
	}
	if number < 0 || number >= n {
		return ctx, fmt.Errorf("%w of this number; there are %d, the first is 0", ErrNoDevice, n)
	}
	d, err := cu.GetDevice(number)
	if err != nil {
		return ctx, err
	}
	major, minor, err := d.ComputeCapability()
	if err != nil {
		return ctx, err
	}
	if 10*major+minor < 75 {
		return ctx, fmt.Errorf("%w: %d.%d", ErrOldDevice, major, minor)
	}
	if ctx, err = d.MakeContext(cu.SchedAuto); err != nil {
		return ctx, err
	}
	if err = g.describe(d); err == nil {
		err = g.load(cubinsFor(major, minor))
	}
	if err != nil {
		return ctx, errors.Join(err, ctx.Destroy())
	}
	return ctx, nil
}

func (g *GPU) describe(d cu.Device) (err error) {
	if g.info.Name, err = d.Name(); err != nil {
		return err
	}
	if g.info.Multiprocessors, err = d.Attribute(cu.MultiprocessorCount); err != nil {
		return err
	}
	managed, err := d.Attribute(cu.ConcurrentManagedAccess)
	if err != nil {
		return err
	}
	g.device, g.info.Moves = d, managed == 1
	_, total, err := cu.MemInfo()
	g.info.Memory = total
	return err
}

// load loads the kernels: from cubins, or, where none are for the device or the driver refuses one, from PTX, which the
// driver compiles.
func (g *GPU) load(cubins string) (err error) {
	g.info.Code = codePTX
	if cubins != "" && os.Getenv(ForcePTX) != "1" {
		if err := g.loadFrom(cubins); err != nil {
			g.info.Refused = errors.Join(err, g.unload())
		} else {
			g.info.Code = cubins
		}
	}
	if g.info.Code == codePTX {
		if err := g.loadFrom(codePTX); err != nil {
			return err
		}
	}
	for i, name := range Searches {
		if late(name) { // has the bounds of the others
			continue
		}
		n, err := g.functions[name].MaxActiveBlocksPerMultiProcessorWithFlags(maxBlockWarps*warp, 0,
			cu.DefaultOccupancy)
		if err != nil {
			return err
		}
		each := &g.info.BlocksEach
		if forRows(name) {
			each = &g.info.RowBlocksEach
		}
		if i < 2 || n < *each { // those that test conditions are to fit, too
			*each = n
		}
	}
	return nil
}

// forRows tells of a kernel of Searches whether it is one for rows.
func forRows(name string) bool { return strings.HasPrefix(name, "wbmrows") }

// late tells of a kernel that it is loaded when it is launched first: few graphs have ranges, and PTX takes seconds.
func late(name string) bool { return strings.HasSuffix(name, "ranges") }

func (g *GPU) loadFrom(code string) error {
	for _, name := range kernelNames() {
		if late(name) {
			continue
		}
		if err := g.loadKernel(code, name); err != nil {
			return err
		}
	}
	return nil
}

func (g *GPU) loadKernel(code, name string) error {
	image, err := imageOf(code, name)
	if err != nil {
		return err
	}
	m, err := cu.LoadData(image)
	if err != nil {
		return fmt.Errorf("loading kernel %s: %w", name, err)
	}
	g.modules = append(g.modules, m)
	f, err := m.Function(name)
	if err != nil {
		return fmt.Errorf("loading kernel %s: %w", name, err)
	}
	g.functions[name] = f
	return nil
}

// function returns a kernel; ok is false if there is none of this name.
func (g *GPU) function(name string) (f cu.Function, ok bool, err error) {
	g.loading.Lock()
	defer g.loading.Unlock()
	if f, ok = g.functions[name]; ok || !late(name) {
		return f, ok, nil
	}
	if err = g.call(func() error { return g.loadKernel(g.info.Code, name) }); errors.Is(err, cu.OutOfMemory) {
		err = &MemoryError{Err: err}
	}
	f, ok = g.functions[name]
	return f, ok, err
}

// unload takes back what loadFrom has loaded.
func (g *GPU) unload() (err error) {
	for _, m := range g.modules {
		err = errors.Join(err, m.Unload())
	}
	g.modules = nil
	clear(g.functions)
	return err
}

// call calls a function on a thread that has the context.
func (g *GPU) call(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cu.SetCurrentContext(g.ctx); err != nil {
		return err
	}
	return f()
}

// Info implements Device.
func (g *GPU) Info() Info { return g.info }

// Alloc implements Device.
func (g *GPU) Alloc(bytes int) (p Ptr, err error) {
	err = g.call(func() error {
		d, err := cu.MemAlloc(int64(bytes))
		if err == cu.OutOfMemory {
			return &MemoryError{Wanted: bytes, Err: err}
		}
		if err != nil { // of a kernel before it, perhaps
			return err
		}
		p = Ptr(d)
		return nil
	})
	return p, err
}

// Free implements Device.
func (g *GPU) Free(p Ptr) error {
	if b, ok := g.mapped[p]; ok {
		delete(g.mapped, p)
		return g.FreeHost(b)
	}
	return g.call(func() error { return cu.MemFree(cu.DevicePtr(p)) })
}

// Write implements Queue. The driver returns when it has read src, which is before the last of it has arrived.
func (g *GPU) Write(dst Ptr, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	return g.call(func() error {
		if err := cu.MemcpyHtoD(cu.DevicePtr(dst), unsafe.Pointer(unsafe.SliceData(src)), int64(len(src))); err != nil {
			return err
		}
		return cu.NoStream.Synchronize()
	})
}

// Read implements Queue.
func (g *GPU) Read(dst []byte, src Ptr) error {
	if len(dst) == 0 {
		return nil
	}
	return g.call(func() error {
		return cu.MemcpyDtoH(unsafe.Pointer(unsafe.SliceData(dst)), cu.DevicePtr(src), int64(len(dst)))
	})
}

// Clear implements Queue.
func (g *GPU) Clear(dst Ptr, bytes int) error {
	if bytes == 0 {
		return nil
	}
	return g.call(func() error {
		if err := cu.MemsetD8(cu.DevicePtr(dst), 0, int64(bytes)); err != nil {
			return err
		}
		return cu.NoStream.Synchronize()
	})
}

// Launch implements Queue.
func (g *GPU) Launch(kernel string, blocks, threads int, params []byte) error {
	return g.launch(cu.NoStream, kernel, blocks, threads, params)
}

// Sync implements Queue.
func (g *GPU) Sync() error { return g.call(cu.NoStream.Synchronize) }

// Close implements Device.
func (g *GPU) Close() error { return g.call(g.ctx.Destroy) }
