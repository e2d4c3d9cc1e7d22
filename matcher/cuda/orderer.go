//go:build cuda || emu

package cuda

import (
	"motifd/kernels"
	"motifd/matcher/cuda/device"
)

// chunkBytes is the size of each of the two host buffers to which rows are copied. Not tuned.
const chunkBytes = 16 << 20

// orderer sorts rows on the device and copies them to the host. It holds the row buffer of searches, two buffers of
// sorted rows, so that one wave is copied while the next is sorted, and the scratch memory of the sort. Searches and
// sorts follow each other on the runner's stream; copies run concurrently on a stream of their own.
type orderer struct {
	dev    kernels.Device
	memory int

	arena, work, bits, first, destination device.Buffer

	stream   *stagedStream // the runner's
	down     kernels.Stream
	computed kernels.Event
	copied   [2]kernels.Event
	chunk    [2][]byte

	rows kernels.Rows
	out  [2]kernels.Ptr
}

func (o *orderer) init(dev kernels.Device, memory int) {
	*o = orderer{dev: dev, memory: memory}
	for _, b := range o.buffers() {
		b.Dev = dev
	}
}

func (o *orderer) buffers() []*device.Buffer {
	return []*device.Buffer{&o.arena, &o.work, &o.bits, &o.first, &o.destination}
}

func (o *orderer) Free() error {
	var first error
	note := func(err error) {
		if first == nil {
			first = err
		}
	}
	for _, b := range o.buffers() {
		note(b.Free())
	}
	for i := range o.chunk {
		if o.chunk[i] != nil {
			note(o.dev.FreeHost(o.chunk[i]))
		}
		if o.copied[i] != nil {
			note(o.copied[i].Close())
		}
	}
	if o.computed != nil {
		note(o.computed.Close())
	}
	if o.down != nil {
		note(o.down.Close())
	}
	o.init(o.dev, o.memory)
	return first
}

// open makes the streams, events and host buffers.
func (o *orderer) open() (err error) {
	if o.down == nil {
		if o.down, err = o.dev.NewStream(); err != nil {
			return err
		}
	}
	for _, e := range []*kernels.Event{&o.computed, &o.copied[0], &o.copied[1]} {
		if *e == nil {
			if *e, err = o.dev.NewEvent(); err != nil {
				return err
			}
		}
	}
	for i := range o.chunk {
		if o.chunk[i] == nil {
			if o.chunk[i], err = o.dev.AllocHost(min(chunkBytes, max(o.memory/16, 4*kernels.MaxStride)&^3)); err !=
				nil {
				return err
			}
		}
	}
	if _, err := o.work.Reserve(kernels.SortWork(o.dev.Info())); err != nil {
		return err
	}
	if _, err = o.bits.Reserve(4 * kernels.MaxStride); err != nil {
		return err
	}
	_, err = o.first.Reserve(1 << 20) // growing it later would wait for running work
	return err
}

// rowBytes returns the memory for a row of a number of words: in the row buffer, twice as key and row number, and in
// two output buffers.
func rowBytes(stride int) int { return 4*stride + 2*(8+4) + 2*4*max(stride-1, 0) }

// begin divides the memory for the rows of a job. s is the stream of its searches.
func (o *orderer) begin(j *job, s *stagedStream) error {
	o.stream = s
	if err := o.open(); err != nil {
		return err
	}
	j.room = max(o.memory/rowBytes(j.stride)-j.behind, minRows)
	rows := j.room + j.behind
	const line = 256
	total := 0
	take := func(bytes int) (at int) {
		at = total
		total += (bytes + line - 1) &^ (line - 1)
		return at
	}
	buffer := take(4 * j.stride * rows)
	var keys, values, out [2]int
	for i := range 2 {
		keys[i], values[i], out[i] = take(8*rows), take(4*rows), take(4*(j.stride-1)*rows)
	}
	if _, err := o.arena.Claim(total); err != nil {
		return err
	}
	at := func(offset int) kernels.Ptr { return o.arena.Ptr + kernels.Ptr(offset) }
	j.buffer = at(buffer)
	o.rows = kernels.Rows{Rows: j.buffer, Stride: j.stride, Columns: j.columns, Bits: o.bits.Ptr,
		Sort: kernels.Sort{Work: o.work.Ptr}}
	for i := range 2 {
		o.rows.Sort.Keys[i], o.rows.Sort.Values[i], o.out[i] = at(keys[i]), at(values[i]), at(out[i])
	}
	return nil
}

// settle waits for all work on the streams.
func (o *orderer) settle() error {
	err := o.stream.sync()
	if e := o.down.Sync(); err == nil {
		err = e
	}
	return err
}

// sort sorts n rows of the row buffer into an output buffer and returns the runs of their groups. widths has the width
// of the rows of each group.
func (o *orderer) sort(wait func() error, n int, out int, widths []int) ([]run, error) {
	r := o.rows
	r.N = n
	if err := kernels.RunRowBits(o.stream.q, r); err != nil {
		return nil, err
	}
	differ, group := make([]uint32, r.Stride), make([]uint32, 1)
	if err := wait(); err != nil {
		return nil, err
	}
	if err := o.stream.read(fetch{kernels.Bytes(differ), r.Bits}, fetch{kernels.Bytes(group), r.Rows}); err != nil {
		return nil, err
	}
	first := make([]uint32, len(widths))
	for i := range first {
		first[i] = kernels.None
	}
	// Put may wait for the stream, so it comes before the sort is queued.
	if err := o.stream.Put(&o.first, kernels.Bytes(first)); err != nil {
		return nil, err
	}
	if err := o.stream.begin(); err != nil {
		return nil, err
	}
	order, err := kernels.RunRowOrder(o.stream.q, r, differ, group[0])
	if err != nil {
		return nil, err
	}
	if err := kernels.RunRowBounds(o.stream.q, r, order, o.first.Ptr); err != nil {
		return nil, err
	}
	uniform := true
	for _, w := range widths {
		uniform = uniform && w == widths[0]
	}
	if uniform {
		if err := kernels.RunRowGather(o.stream.q, r, order, o.out[out], widths[0], 0); err != nil {
			return nil, err
		}
	}
	if err := o.stream.end(); err != nil {
		return nil, err
	}
	if err := wait(); err != nil {
		return nil, err
	}
	if err := o.stream.read(fetch{kernels.Bytes(first), o.first.Ptr}); err != nil {
		return nil, err
	}
	runs, destinations, err := runsOf(first, widths, n)
	if err != nil || uniform {
		return runs, err
	}
	if err := o.stream.Put(&o.destination, kernels.Bytes(destinations)); err != nil {
		return nil, err
	}
	if err := kernels.RunRowGather(o.stream.q, r, order, o.out[out], 0, o.destination.Ptr); err != nil {
		return nil, err
	}
	return runs, wait()
}

// run is the number and the width of the rows of one group.
type run struct {
	group, rows, width int
}

// runsOf makes runs from the first rows of the groups, and sets the destination of each group.
func runsOf(first []uint32, widths []int, n int) ([]run, []kernels.Destination, error) {
	var runs []run
	destinations := make([]kernels.Destination, len(first))
	word, row := 0, 0 // of the current group
	for g, at := range first {
		if at == kernels.None {
			continue
		}
		if k := len(runs) - 1; k >= 0 {
			runs[k].rows = int(at) - row
			word += runs[k].rows * runs[k].width
		}
		if row > int(at) || int(at) >= n || len(runs) == 0 && at != 0 {
			return nil, nil, badOutput("groups out of order")
		}
		row = int(at)
		destinations[g] = kernels.Destination{Word: uint64(word), First: at, Width: uint32(widths[g])}
		runs = append(runs, run{group: g, width: widths[g]})
	}
	if len(runs) == 0 {
		return nil, nil, badOutput("%d rows of no group", n)
	}
	runs[len(runs)-1].rows = n - row
	return runs, destinations, nil
}
