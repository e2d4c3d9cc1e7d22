//go:build cuda || emu

package cuda_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"motifd/kernels"
	"motifd/matcher/cuda/cudatest"
	"motifd/matcher/cuda/placement"
)

// tallied counts what it gave out and did not get back, and fails from a call on.
type tallied struct {
	kernels.Device
	held, calls, failing int
}

var errTallied = errors.New("this call fails")

func (c *tallied) call() error {
	if c.calls++; c.failing > 0 && c.calls >= c.failing {
		return errTallied
	}
	return nil
}

func (c *tallied) Alloc(bytes int) (kernels.Ptr, error) {
	if err := c.call(); err != nil {
		return 0, err
	}
	c.held++
	return c.Device.Alloc(bytes)
}

func (c *tallied) Free(p kernels.Ptr) error {
	c.held--
	return c.Device.Free(p)
}

func (c *tallied) AllocHost(bytes int) ([]byte, error) {
	if err := c.call(); err != nil {
		return nil, err
	}
	c.held++
	return c.Device.AllocHost(bytes)
}

func (c *tallied) FreeHost(b []byte) error {
	c.held--
	return c.Device.FreeHost(b)
}

func (c *tallied) NewStream() (kernels.Stream, error) {
	if err := c.call(); err != nil {
		return nil, err
	}
	s, err := c.Device.NewStream()
	if err != nil {
		return nil, err
	}
	c.held++
	return &talliedStream{s, c}, nil
}

// talliedStream is a stream of a tallied device.
type talliedStream struct {
	kernels.Stream
	of *tallied
}

func (s *talliedStream) Write(dst kernels.Ptr, src []byte) error {
	if err := s.of.call(); err != nil {
		return err
	}
	return s.Stream.Write(dst, src)
}

func (s *talliedStream) Close() error {
	s.of.held--
	return s.Stream.Close()
}

func (c *tallied) Write(dst kernels.Ptr, src []byte) error {
	if err := c.call(); err != nil {
		return err
	}
	return c.Device.Write(dst, src)
}

// TestCalibrate measures a device: it keeps nothing of it, also when it fails on the way, and what it finds is
// positive.
func TestCalibrate(t *testing.T) {
	c := &tallied{Device: cudatest.NewDevice(t, rand.New(rand.NewPCG(1, 1)))}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	start := time.Now()
	clock := func() int64 { return int64(time.Since(start)) }
	got, err := placement.Calibrate(c, clock)
	if err != nil || got.RoundTrip <= 0 || got.Byte <= 0 || c.held != 0 {
		t.Fatalf("%+v, %v, %d things left", got, err, c.held)
	}
	for calls := c.calls; calls > 0; calls-- {
		c.calls, c.failing = 0, calls
		if _, err := placement.Calibrate(c, clock); !errors.Is(err, errTallied) || c.held != 0 {
			t.Errorf("call %d failed: %v, %d things left", calls, err, c.held)
		}
	}
}
