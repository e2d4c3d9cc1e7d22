//go:build cuda || emu

package mirror

import (
	"math"

	"motifd/kernels"
)

// nearFirst allocates in the memory of a device as long as its part of that lasts, and then in mapped memory of the
// host (DESIGN A25). What is allocated first is near; so a mirror allocates first what searches read most for its size.
type nearFirst struct {
	kernels.Device
	most int // bytes of the device that the mirror may take
	near map[kernels.Ptr]int
	far  map[kernels.Ptr]int // in memory of the host
	used [2]int              // bytes, near and far
}

func newNearFirst(dev kernels.Device) *nearFirst {
	return &nearFirst{Device: dev, most: math.MaxInt, near: map[kernels.Ptr]int{}, far: map[kernels.Ptr]int{}}
}

// keptFor is the divisor of the part of the device's memory that is kept for small allocations, those of an update: an
// eighth. Not tuned.
const keptFor = 8

// Alloc implements kernels.Device.
func (d *nearFirst) Alloc(bytes int) (kernels.Ptr, error) {
	left := d.most - d.used[0]
	if bytes > d.most/keptFor/keptFor {
		left -= d.most / keptFor
	}
	alloc, of, used := d.Device.Alloc, d.near, &d.used[0]
	if bytes > left {
		alloc, of, used = d.Device.AllocMapped, d.far, &d.used[1]
	}
	p, err := alloc(bytes)
	if err == nil {
		of[p] = bytes
		*used += bytes
	}
	return p, err
}

// Free implements kernels.Device.
func (d *nearFirst) Free(p kernels.Ptr) error {
	d.used[0] -= d.near[p]
	d.used[1] -= d.far[p]
	delete(d.near, p)
	delete(d.far, p)
	return d.Device.Free(p)
}

// Map bounds what the mirror takes of the device's memory, in bytes. The rest of the graph is in mapped memory of the
// host, which kernels read over the link. The next CatchUp copies all of the graph.
func (m *Mirror) Map(most int) error {
	m.again()
	err := m.Free()
	m.dev.most = max(0, most)
	return err
}

// Sizes returns how many bytes the mirror has on the device, and in mapped memory of the host.
func (m *Mirror) Sizes() (near, far int) { return m.dev.used[0], m.dev.used[1] }
