//go:build cuda || emu

package kernels

import (
	"errors"
	"fmt"
	"unsafe"
)

// Ptr is an address in a device's memory. 0 is none.
type Ptr uint64

// Info describes a device.
type Info struct {
	Name            string
	Multiprocessors int
	Memory          int64  // bytes, of all the device
	BlocksEach      int    // blocks of the search kernel for totals that a multiprocessor holds at once
	RowBlocksEach   int    // and of that for rows
	Code            string // what the kernels were loaded from: cubins, sm_80 or sm_90; or ptx. Empty: the emulator
	Refused         error  // why it is not cubins, where there are some for the device
}

// Queue is something that does copies and launches in the order of the calls: a Device, or one of its streams.
type Queue interface {
	Info() Info
	Write(dst Ptr, src []byte) error
	Read(dst []byte, src Ptr) error
	Clear(dst Ptr, bytes int) error
	Launch(kernel string, blocks, threads int, params []byte) error
	// Sync waits for what was asked for. It returns what failed since the last Sync, if that was not returned before.
	Sync() error
}

// Device runs kernels. Calls are made from one goroutine at a time. As a Queue it is done with a copy when the call
// returns; Launch need not wait, everything else that follows it does. A failed Launch may be reported by the call
// after it.
type Device interface {
	Queue
	// Alloc returns memory with any content; at least 256-byte aligned on a GPU. A *MemoryError is wrapped when there
	// is too little.
	Alloc(bytes int) (Ptr, error)
	// Free waits for nothing: the memory is not in use.
	Free(p Ptr) error
	// AllocHost returns page-locked host memory, of any content, that streams copy from and to. It is not the garbage
	// collector's: FreeHost takes the whole of it back.
	AllocHost(bytes int) ([]byte, error)
	FreeHost(b []byte) error
	NewStream() (Stream, error)
	NewEvent() (Event, error)
	Close() error
}

// Stream is a Queue whose calls return at once and whose work is done beside that of the Device itself and of other
// streams. It copies from and to page-locked memory alone, which is left untouched until the copy is done.
type Stream interface {
	Queue
	// Record has the event happen when all that was asked of the stream so far is done.
	Record(e Event) error
	// Close frees the stream, which has nothing left to do.
	Close() error
}

// Event is a point in the work of a stream. One that was never recorded has happened.
type Event interface {
	// Sync waits until it has happened, Done tells whether it has.
	Sync() error
	Done() (bool, error)
	// Since returns the milliseconds between two events that were recorded and have happened.
	Since(earlier Event) (float64, error)
	Close() error
}

// Why a GPU cannot be opened.
var (
	ErrNoDriver  = errors.New("there is no usable NVIDIA driver")
	ErrOldDriver = errors.New("the NVIDIA driver is too old; one for CUDA 11.0 or later is needed")
	ErrNoDevice  = errors.New("there is no NVIDIA GPU")
	ErrOldDevice = errors.New("the GPU is too old; compute capability 7.5 or later is needed")
)

// Error is the failure of a device that was opened: of a copy, or of a kernel. The device may be of no use afterwards.
type Error struct {
	Op  string
	Err error
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("the GPU failed in %s: %v", e.Op, e.Err) }

// Unwrap returns the driver's error.
func (e *Error) Unwrap() error { return e.Err }

// OfDevice tells whether an error, or one that it wraps, is a device's: an Error or a MemoryError.
func OfDevice(err error) bool {
	var failed *Error
	var memory *MemoryError
	return errors.As(err, &failed) || errors.As(err, &memory)
}

// MemoryError says that the device has too little memory.
type MemoryError struct {
	Wanted int // bytes; 0 when it is the driver that wants some
	Err    error
}

// Error implements error.
func (e *MemoryError) Error() string {
	if e.Wanted == 0 {
		return fmt.Sprintf("the GPU has too little free memory: %v", e.Err)
	}
	return fmt.Sprintf("the GPU has no room for another %d MiB: %v", (e.Wanted+1<<20-1)>>20, e.Err)
}

// Unwrap returns the driver's error.
func (e *MemoryError) Unwrap() error { return e.Err }

// Bytes returns the memory of a slice of plain data, for copies to and from a device. The result aliases it.
func Bytes[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}

// BytesOf returns the memory of one plain value.
func BytesOf[T any](x *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(x)), unsafe.Sizeof(*x)) }

// WordsOf returns memory of a multiple of four bytes, so aligned, as words. The result aliases it.
func WordsOf(b []byte) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}
