//go:build cuda || emu

package mirror

import (
	"math"

	"motifd/kernels"
)

// nearFirst allocates in the memory of a device as long as its part of that lasts, and then in mapped memory of the
// host (DESIGN A25).
type nearFirst struct {
	kernels.Device
	most int // bytes of the device that the mirror may take
	near map[kernels.Ptr]int
	far  map[kernels.Ptr]int // in memory of the host; a part of an allocation may be near
	used [2]int              // bytes, near and far
	// fresh tells that columns were allocated in memory of the host since parts of them were last moved.
	fresh bool
}

func newNearFirst(dev kernels.Device) *nearFirst {
	return &nearFirst{Device: dev, most: math.MaxInt, near: map[kernels.Ptr]int{}, far: map[kernels.Ptr]int{}}
}

// keptFor is the divisor of the part of the device's memory that is kept for small allocations, those of an update: an
// eighth. Not tuned.
const keptFor = 8

// room returns how many bytes of the device are left for the graph and for large allocations.
func (d *nearFirst) room() int { return d.most - d.used[0] - d.most/keptFor }

// Alloc implements kernels.Device.
func (d *nearFirst) Alloc(bytes int) (kernels.Ptr, error) {
	left := d.room()
	if bytes <= d.most/keptFor/keptFor {
		left = d.most - d.used[0]
	}
	if bytes > left {
		return d.AllocMapped(bytes)
	}
	p, err := d.Device.Alloc(bytes)
	if err == nil {
		d.near[p] = bytes
		d.used[0] += bytes
	}
	return p, err
}

// AllocMapped implements kernels.Device.
func (d *nearFirst) AllocMapped(bytes int) (kernels.Ptr, error) {
	p, err := d.Device.AllocMapped(bytes)
	if err == nil {
		d.far[p] = bytes
		d.used[1] += bytes
	}
	return p, err
}

// MoveNear implements kernels.Device.
func (d *nearFirst) MoveNear(p kernels.Ptr, from, to int) (bool, error) {
	moved, err := d.Device.MoveNear(p, from, to)
	if n := to - from; moved {
		d.near[p], d.used[0] = d.near[p]+n, d.used[0]+n
		d.far[p], d.used[1] = d.far[p]-n, d.used[1]-n
	}
	return moved, err
}

// Free implements kernels.Device.
func (d *nearFirst) Free(p kernels.Ptr) error {
	d.used[0] -= d.near[p]
	d.used[1] -= d.far[p]
	delete(d.near, p)
	delete(d.far, p)
	return d.Device.Free(p)
}

// forColumns allocates the columns of a graph: where that does not fit, in mapped memory, from which moveHot moves
// parts to the device. On a device that cannot move memory what is allocated first is near; so a mirror allocates first
// what searches read most for its size.
type forColumns struct{ *nearFirst }

// Alloc implements kernels.Device.
func (d forColumns) Alloc(bytes int) (kernels.Ptr, error) {
	if d.most == math.MaxInt || !d.Info().Moves { // the graph fits, or its place is final
		return d.nearFirst.Alloc(bytes)
	}
	d.fresh = true
	return d.AllocMapped(bytes)
}

// Map bounds what the mirror takes of the device's memory, in bytes. The rest of the graph is in mapped memory of the
// host, which kernels read over the link. The next CatchUp copies all of the graph.
func (m *Mirror) Map(most int) error {
	m.again()
	err := m.Free()
	m.dev.most = max(0, most)
	m.edges.work(m.dev.most)
	return err
}

// Sizes returns how many bytes the mirror has on the device, and in mapped memory of the host.
func (m *Mirror) Sizes() (near, far int) { return m.dev.used[0], m.dev.used[1] }
