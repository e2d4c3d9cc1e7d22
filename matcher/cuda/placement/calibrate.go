//go:build cuda || emu

package placement

import (
	"slices"

	"motifd/kernels"
)

// Calibrate measures the fixed costs of a search on a device, before the first search. It takes some milliseconds, and
// device memory that it frees. clock returns nanoseconds.
func Calibrate(dev kernels.Device, clock func() int64) (c Calibration, err error) {
	const large, times = 256 << 10, 3
	at, err := dev.Alloc(large)
	if err != nil {
		return c, err
	}
	defer func() {
		if e := dev.Free(at); err == nil {
			err = e
		}
	}()
	if err := dev.Clear(at, large); err != nil {
		return c, err
	}
	trip := func() error {
		word := make([]byte, 4)
		if err := dev.Write(at, word); err != nil {
			return err
		}
		if err := kernels.RunPatch(dev,
			kernels.Patch{Dst: at, Src: at + 256, At: at + 512, Records: 1, Words: 1}); err != nil {
			return err
		}
		return dev.Read(word, at)
	}
	measure := func(f func() error) (float64, error) {
		took := make([]int64, times)
		for i := range took {
			began := clock()
			if err := f(); err != nil {
				return 0, err
			}
			took[i] = clock() - began
		}
		slices.Sort(took)
		return float64(max(1, took[times/2])), nil
	}
	if c.RoundTrip, err = measure(trip); err != nil {
		return c, err
	}
	// Page-locked memory, as in the mirror: 42 GB/s, where pageable memory gives 12.
	host, err := dev.AllocHost(large)
	if err != nil {
		return c, err
	}
	defer func() {
		if e := dev.FreeHost(host); err == nil {
			err = e
		}
	}()
	stream, err := dev.NewStream()
	if err != nil {
		return c, err
	}
	defer func() {
		if e := stream.Close(); err == nil {
			err = e
		}
	}()
	write := func(n int) func() error {
		return func() error {
			if err := stream.Write(at, host[:n]); err != nil {
				return err
			}
			return stream.Sync()
		}
	}
	little, err := measure(write(4))
	if err != nil {
		return c, err
	}
	much, err := measure(write(large))
	c.Byte = max(much-little, much/10) / large
	return c, err
}
