//go:build cuda || emu

package cuda

import (
	"context"
	"errors"
	"math"
	"slices"

	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cuda/device"
	"motifd/matcher/cuda/internal/mirror"
)

// deferral holds the partial matches of a pass that need vertices that the device does not hold, as records
// (kernels/defer.cuh). Between launches it chooses records, has the mirror fetch the vertices that they need, and
// gives them back to the device (DESIGN A25). They are a stack: the latest are extended first, so that there are few at
// a time. The lower part of a large stack is in a file.
type deferral struct {
	ring, again device.Buffer // on the device: records that a launch writes, and that it extends
	capacity    int           // records of either
	spare       int           // records that a launch may write beyond

	stride  int      // words of a record
	pending []uint32 // records
	file    deferredFile
	most    int      // bytes of pending, about
	chosen  []uint32 // records that the launch extends
	window  int      // the number of the latest records among which some are chosen
	base    int      // where these records begin, in this round
	beyond  []bool   // by request: a match needs more at once than the device holds, and the CPU must search

	// Of the choice of records, by vertex: round tells whether the others are of it.
	round  uint32
	vertex []wantedVertex
	wanted []uint32 // vertices that records of the round need

	// Numbers since Load.
	rounds, records, looked, handed uint64
}

// wantedVertex is what the choice of records knows of a vertex in a round.
type wantedVertex struct {
	round   uint32
	records uint32 // that need it
	entries uint32
	rank    uint32 // the others with lower ones are fetched first
	planned uint32 // the round in which a chosen record needs it
}

// errBeyond ends a search for rows that needs more of the graph at once than the device holds. The CPU searches.
var errBeyond = errors.New("a match needs more of the graph than the device holds")

func (d *deferral) init(dev kernels.Device, opt Options) {
	*d = deferral{most: opt.DeferredMemory, window: firstWindow, file: deferredFile{open: opt.CPU.TempFiles}}
	d.ring.Dev, d.again.Dev = dev, dev
}

// begin makes room on the device for the records of a job, in a number of bytes, half of it for either use.
func (d *deferral) begin(j *job, t *table, bytes int) error {
	d.stride = recordStride(j, t)
	d.spare = j.shape.Warps() * recordsOnce
	d.beyond = make([]bool, j.requests)
	record := 4 * d.stride
	d.capacity = max(minRecords, bytes/2/record-d.spare)
	if _, err := d.ring.Claim(record * (d.capacity + d.spare)); err != nil {
		return err
	}
	_, err := d.again.Claim(record * d.capacity)
	return err
}

// recordStride returns the number of words of a record of a job.
func recordStride(j *job, t *table) int {
	stride := kernels.RecordHead
	for i, o := range j.owner {
		if o != kernels.None {
			p := &t.programs[i]
			stride = max(stride, int(kernels.RecordHead+p.Vertices+p.Edges*p.Keep))
		}
	}
	return stride
}

const (
	recordsOnce = 32 // records that a warp reserves at a time at most
	minRecords  = 4  // least capacity of the ring
)

// params returns what kernels need to know.
func (d *deferral) params() kernels.Deferred {
	return kernels.Deferred{Record: d.ring.Ptr, Capacity: uint32(d.capacity), Closing: uint32(d.capacity / 4 * 3),
		Stride: uint32(d.stride)}
}

// clear forgets all records.
func (d *deferral) clear() {
	d.pending, d.chosen = d.pending[:0], d.chosen[:0]
	d.file.clear()
}

// Free frees the memory on the device and the file.
func (d *deferral) Free() error {
	d.file.close()
	return device.FreeAll([]*device.Buffer{&d.ring, &d.again})
}

// empty reports whether no record waits.
func (d *deferral) empty() bool { return len(d.pending) == 0 && d.file.records == 0 }

// few reports whether there is room for many more records.
func (d *deferral) few() bool { return d.file.records == 0 && 4*len(d.pending) < d.most/4 }

// take adds n records of the ring to those that wait.
func (d *deferral) take(s *stagedStream, n int) error {
	if n > d.capacity+d.spare {
		return badOutput("%d records, where there is room for %d", n, d.capacity+d.spare)
	}
	d.records += uint64(n)
	at := len(d.pending)
	d.pending = slices.Grow(d.pending, n*d.stride)[:at+n*d.stride]
	if err := s.dev.Read(kernels.Bytes(d.pending[at:]), d.ring.Ptr); err != nil {
		return err
	}
	if over := 4*len(d.pending) - d.most; over > 0 { // the lower half goes to the file
		half := len(d.pending) / d.stride / 2 * d.stride
		if err := d.file.push(d.pending[:half], d.stride); err != nil {
			return err
		}
		d.pending = d.pending[:copy(d.pending, d.pending[half:])]
	}
	return nil
}

// untaken gives back the chosen records from one on, which the device has not begun to extend.
func (d *deferral) untaken(from int) {
	if from *= d.stride; from < len(d.chosen) {
		d.pending = append(d.pending, d.chosen[from:]...)
	}
	d.chosen = d.chosen[:0]
}

// choose chooses records, and has the mirror hold what they need. There is none if those that waited are beyond the
// device: then beyond has their requests.
func (d *deferral) choose(ctx context.Context, j *job, t *table, m *mirror.Mirror) error {
	for d.chosen = d.chosen[:0]; len(d.chosen) == 0; {
		if err := d.top(); err != nil || len(d.pending) == 0 {
			return err
		}
		d.rounds++
		plan := d.plan(j, t, m)
		if len(d.pending) == 0 {
			continue
		}
		if err := m.Fetch(ctx, plan); err != nil {
			return err
		}
		d.split(t, m)
		if len(d.chosen) > 0 {
			break
		}
		if err := d.single(ctx, j, t, m); err != nil {
			return err
		}
	}
	return nil
}

// top reads records back from the file if there are none in memory.
func (d *deferral) top() (err error) {
	if len(d.pending) == 0 && d.file.records > 0 {
		d.pending, err = d.file.pop(d.pending, d.stride)
	}
	return err
}

// The window at first, at least and at most. It becomes such that the cache about holds what the records in it need:
// they are looked at in every round until they are chosen. Tests make them small.
var firstWindow, leastWindow, mostWindow = 1 << 16, 1 << 8, 1 << 22

// each calls f for the vertices that a record needs.
func (d *deferral) each(t *table, record []uint32, f func(v uint32) bool) bool {
	for set, i := t.needs[record[0]][record[3]], 0; set != 0; set, i = set>>1, i+1 {
		if set&1 != 0 && !f(record[kernels.RecordHead+i]) {
			return false
		}
	}
	return true
}

// plan returns the vertices to fetch for the records that wait, in order. It drops records of requests that are beyond
// the device. If all that is wanted fits the cache, it is all of it. Else the vertices that most records need for their
// size come first, and records are planned that need what fits.
func (d *deferral) plan(j *job, t *table, m *mirror.Mirror) (fetch []uint32) {
	m.BeginRound()
	d.beginRound(j)
	d.base = max(0, len(d.pending)-d.window*d.stride)
	kept := d.pending[:d.base]
	for r := range slices.Chunk(d.pending[d.base:], d.stride) {
		if d.beyond[j.owner[r[0]]] {
			continue
		}
		kept = append(kept, r...)
		d.each(t, r, func(v uint32) bool {
			w := &d.vertex[v]
			if w.round != d.round {
				*w = wantedVertex{round: d.round, entries: uint32(m.Entries(v))}
				d.wanted = append(d.wanted, v)
			}
			w.records++
			return true
		})
	}
	d.pending = kept
	all := 0
	for _, v := range d.wanted {
		all += int(d.vertex[v].entries)
	}
	if all > m.Room() {
		d.planSome(t, m)
		d.window = max(leastWindow, d.window/2)
	} else {
		for _, v := range d.wanted {
			d.vertex[v].planned = d.round
		}
		if 2*all < m.Room() {
			d.window = min(mostWindow, 2*d.window)
		}
	}
	for _, v := range d.wanted {
		switch {
		case d.vertex[v].planned != d.round:
		case m.Holds(v):
			m.Pin(v)
		default:
			fetch = append(fetch, v)
		}
	}
	return fetch
}

// planSome sorts the vertices that are wanted, and plans those of the records that fit together.
func (d *deferral) planSome(t *table, m *mirror.Mirror) {
	order := make([]uint64, 0, len(d.wanted)) // by records for each entry, the most first; those that are held before
	for i, v := range d.wanted {
		w, key := &d.vertex[v], uint32(0)
		if !m.Holds(v) {
			key = math.Float32bits(float32(1+w.entries) / float32(w.records))
		}
		order = append(order, uint64(key)<<32|uint64(i))
	}
	slices.Sort(order)
	for rank, x := range order {
		d.vertex[d.wanted[uint32(x)]].rank = uint32(rank)
	}
	some := d.pending[d.base:]
	n := len(some) / d.stride
	order = slices.Grow(order[:0], n)[:n] // records by the highest rank of what they need, the latest first
	for i := range order {
		last := uint32(0)
		d.each(t, some[i*d.stride:], func(v uint32) bool {
			last = max(last, d.vertex[v].rank)
			return true
		})
		order[i] = uint64(last)<<32 | uint64(n-1-i)
	}
	slices.Sort(order)
	left := m.Room()
	for _, x := range order {
		r := some[(n-1-int(uint32(x)))*d.stride:]
		need := 0
		d.each(t, r, func(v uint32) bool {
			if d.vertex[v].planned != d.round { // a vertex has one position
				need += int(d.vertex[v].entries)
			}
			return true
		})
		if need > left {
			continue
		}
		left -= need
		d.each(t, r, func(v uint32) bool {
			d.vertex[v].planned = d.round
			return true
		})
	}
}

// split chooses the latest of the records that wait of which the device holds all that they need, as many as there is
// room for.
func (d *deferral) split(t *table, m *mirror.Mirror) {
	end := len(d.pending)
	for at := end - d.stride; at >= d.base; at -= d.stride {
		r := d.pending[at : at+d.stride]
		if len(d.chosen) < d.capacity*d.stride && d.each(t, r, m.Holds) {
			d.chosen = append(d.chosen, r...)
			continue
		}
		end -= d.stride
		copy(d.pending[end:], r)
	}
	d.pending = d.pending[:d.base+copy(d.pending[d.base:], d.pending[end:])]
}

// single empties the cache for the latest record alone. If what it needs is too much even then, its request is beyond
// the device.
func (d *deferral) single(ctx context.Context, j *job, t *table, m *mirror.Mirror) error {
	m.Reset()
	m.BeginRound()
	r := d.pending[len(d.pending)-d.stride:]
	var fetch []uint32
	d.each(t, r, func(v uint32) bool {
		if !slices.Contains(fetch, v) {
			fetch = append(fetch, v)
		}
		return true
	})
	if err := m.Fetch(ctx, fetch); err != nil {
		return err
	}
	if d.each(t, r, m.Holds) {
		d.chosen = append(d.chosen, r...)
		d.pending = d.pending[:len(d.pending)-d.stride]
		return nil
	}
	d.handed++
	if d.beyond[j.owner[r[0]]] = true; j.found == nil {
		return errBeyond
	}
	return nil
}

// deferredFile is the lower part of a stack of records, in a temporary file.
type deferredFile struct {
	open    matcher.TempFiles
	f       matcher.TempFile
	parts   []int // words of each
	end     int64 // bytes
	records int
}

// errNoFiles reports that records cannot be written to a file.
var errNoFiles = errors.New("deferring partial matches: the backend was given no temporary files")

// push writes records behind those that are there.
func (f *deferredFile) push(records []uint32, stride int) (err error) {
	if f.f == nil {
		if f.open == nil {
			return errNoFiles
		}
		if f.f, err = f.open(); err != nil {
			return err
		}
	}
	if _, err := f.f.WriteAt(kernels.Bytes(records), f.end); err != nil {
		return err
	}
	f.end += int64(4 * len(records))
	f.parts = append(f.parts, len(records))
	f.records += len(records) / stride
	return nil
}

// pop reads the records back that were written last, into the memory of to.
func (f *deferredFile) pop(to []uint32, stride int) ([]uint32, error) {
	n := f.parts[len(f.parts)-1]
	to = slices.Grow(to[:0], n)[:n]
	f.end -= int64(4 * n)
	if _, err := f.f.ReadAt(kernels.Bytes(to), f.end); err != nil {
		return to[:0], err
	}
	f.parts, f.records = f.parts[:len(f.parts)-1], f.records-n/stride
	return to, nil
}

func (f *deferredFile) clear() { f.parts, f.end, f.records = f.parts[:0], 0, 0 }

func (f *deferredFile) close() {
	if f.f != nil {
		_ = f.f.Close() // what it had is not wanted any more
	}
	f.f = nil
	f.clear()
}
