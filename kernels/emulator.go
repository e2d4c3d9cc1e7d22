//go:build emu

package kernels

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
)

// Emulator is a Device that runs the kernels on this machine, in a process of the program that emu/build.sh makes. It
// is for tests.
type Emulator struct {
	cmd *exec.Cmd
	in  *bufio.Writer
	out *bufio.Reader
	end io.Closer
	err error

	mu sync.Mutex // of one request and its answer: Poke comes from any goroutine

	rng     *rand.Rand
	streams []*emulatedStream
}

// StartEmulator starts the program; seed decides in which order lanes run.
func StartEmulator(program string, seed uint64) (*Emulator, error) {
	cmd := exec.Command(program)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the emulator: %w", err)
	}
	e := &Emulator{
		rng: rand.New(rand.NewPCG(seed, 0)),
		cmd: cmd,
		in:  bufio.NewWriterSize(in, 1<<16),
		out: bufio.NewReaderSize(out, 1<<16),
		end: in,
	}
	_, err = e.ask('s', nil, seed)
	return e, err
}

// ask sends a request, with bytes behind its operands, and returns the answer's number.
func (e *Emulator) ask(op byte, data []byte, operands ...uint64) (uint64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.send(op, operands...)
	e.in.Write(data)
	return e.number()
}

func (e *Emulator) send(op byte, operands ...uint64) {
	e.in.WriteByte(op)
	var b [8]byte
	for _, x := range operands {
		binary.LittleEndian.PutUint64(b[:], x)
		e.in.Write(b[:])
	}
}

func (e *Emulator) number() (uint64, error) {
	var b [8]byte
	err := e.answer(b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

func (e *Emulator) answer(dst []byte) error {
	if e.err == nil {
		e.err = e.in.Flush()
	}
	if e.err == nil {
		_, e.err = io.ReadFull(e.out, dst)
	}
	if e.err != nil {
		return fmt.Errorf("the emulator does not answer: %w", e.err)
	}
	return nil
}

// Info implements Device. The emulated device is small.
func (e *Emulator) Info() Info {
	return Info{Name: "emulator", Multiprocessors: 1, Memory: 1 << 30, BlocksEach: 2, RowBlocksEach: 1, Moves: true}
}

// Alloc implements Device.
func (e *Emulator) Alloc(bytes int) (Ptr, error) {
	p, err := e.ask('a', nil, uint64(bytes))
	return Ptr(p), err
}

// AllocMapped implements Device.
func (e *Emulator) AllocMapped(bytes int) (Ptr, error) { return e.Alloc(bytes) }

// MoveNear implements Device: all memory is near.
func (e *Emulator) MoveNear(Ptr, int, int) (bool, error) { return true, nil }

// Free implements Device.
func (e *Emulator) Free(p Ptr) error {
	_, err := e.ask('f', nil, uint64(p))
	return err
}

// Write implements Queue.
func (e *Emulator) Write(dst Ptr, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	_, err := e.ask('w', src, uint64(dst), uint64(len(src)))
	return err
}

// Read implements Queue.
func (e *Emulator) Read(dst []byte, src Ptr) error {
	if len(dst) == 0 {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.send('r', uint64(src), uint64(len(dst)))
	return e.answer(dst)
}

// Poke implements Device. A kernel ends before the word is there.
func (e *Emulator) Poke(dst Ptr, word uint32) error {
	return e.Write(dst, BytesOf(&word))
}

// Clear implements Queue.
func (e *Emulator) Clear(dst Ptr, bytes int) error {
	_, err := e.ask('c', nil, uint64(dst), uint64(bytes))
	return err
}

// Launch implements Queue.
func (e *Emulator) Launch(kernel string, blocks, threads int, params []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.send('l', uint64(len(kernel)))
	e.in.WriteString(kernel)
	var b []byte
	for _, x := range []int{blocks, threads, len(params)} {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	e.in.Write(b)
	e.in.Write(params)
	if _, err := e.number(); err != nil {
		return fmt.Errorf("kernel %s: %w", kernel, err)
	}
	return nil
}

// Sync implements Queue.
func (e *Emulator) Sync() error { return nil }

// Close implements Device.
func (e *Emulator) Close() error {
	return errors.Join(e.end.Close(), e.cmd.Wait())
}
