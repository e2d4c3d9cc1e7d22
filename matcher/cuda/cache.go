//go:build cuda || emu

package cuda

import (
	"errors"

	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cuda/internal/mirror"
)

// Where the graph does not fit a device, all mirrors are caches from then on, until Load: they hold the entries of some
// vertices, which searches have fetched (DESIGN A25). The memory of a device is divided as follows: what there is for
// each vertex, and for each warp; shares for rows, records, tasks and the memo; the entries get the rest.
const (
	rowShare    = 16 // of the device's memory: Options.RowMemory
	recordShare = 16
	memoShare   = 16
	taskShare   = 32
	spareShare  = 8 // for what is as large as a batch, copies, and what allocations waste
)

// suitsCache reports whether the device can search a plan while mirrors are caches. What conditions and negations read
// of edges is not there, and neither are two versions of an edge.
func (b *Backend) suitsCache(p *matcher.Plan) bool {
	return !p.NeedsWholeGraph() && (b.delta == nil || b.delta.Replaced == 0)
}

// recordMemory returns the device memory for records, in bytes.
func (r *runner) recordMemory() int {
	if r.opt.RecordMemory > 0 {
		return r.opt.RecordMemory
	}
	return int(r.dev.Info().Memory / recordShare)
}

// mostBlocks limits the blocks of a search of a cache, so that the spare records of its warps take little of the memory
// for records.
func (r *runner) mostBlocks(j *job) int {
	const share = 8
	return r.recordMemory() / share / (4 * recordStride(j, r.table) * kernels.BlockWarps * recordsOnce)
}

// smaller reports whether an error is that a device has too little memory, and the mirrors take less from now on: they
// become caches, or smaller ones.
func (b *Backend) smaller(err error) bool {
	var short *kernels.MemoryError
	if !errors.As(err, &short) || b.lost {
		return false
	}
	for _, s := range b.sides {
		if b.cacheSize(s) < leastCache {
			return false
		}
	}
	if b.useCaches() != nil {
		return false
	}
	if b.opt.CacheUsed != nil {
		b.opt.CacheUsed(err, b.CacheUse())
	}
	return true
}

// cacheUsed tells of the use of caches after a search.
func (b *Backend) cacheUsed() {
	if b.cached && b.opt.CacheUsed != nil {
		b.opt.CacheUsed(nil, b.CacheUse())
	}
}

// useCaches has all mirrors be caches.
func (b *Backend) useCaches() error {
	var sizes []int
	for _, s := range b.sides {
		sizes = append(sizes, b.cacheSize(s))
	}
	b.cached = true
	var first error
	for i, s := range b.sides {
		if err := s.useCache(b, sizes[i]); first == nil {
			first = err
		}
	}
	return first
}

// leastCache is the least memory for the entries of vertices, in bytes.
const leastCache = 64 << 10

// cacheSize returns the memory for the entries of the next cache of a side, in bytes.
func (b *Backend) cacheSize(s *side) int {
	if b.cached {
		return s.cache / 2
	}
	if b.opt.CacheMemory > 0 {
		return b.opt.CacheMemory
	}
	memory := int(s.dev.Info().Memory)
	ofVertices := int(b.g.IDBound()) * (8 + 8*b.filter.NumberWords())
	ofWarps := s.run.shape(false, 0).Warps() * (kernels.ParkedSize + kernels.StateSize)
	shares := memory/rowShare + memory/recordShare + memory/memoShare + memory/taskShare + memory/spareShare
	return memory - shares - ofVertices*5/4 - ofWarps
}

// useCache has the mirror of a side be a cache of a size, and gives the memory of searches back.
func (s *side) useCache(b *Backend, bytes int) error {
	memory := int(s.dev.Info().Memory)
	s.cache = bytes
	err := s.mirror.UseCache(bytes)
	s.reads(b.table, true)
	if e := s.run.Free(); err == nil {
		err = e
	}
	s.run.opt.Memo = min(s.run.opt.Memo, memory/memoShare)
	s.run.opt.Tasks = min(s.run.opt.Tasks, max(1, memory/taskShare/taskSize))
	s.run.uploaded, s.run.kinds = false, nil
	return err
}

// taskSize is the size of a kernels.Task.
const taskSize = 12

// CacheUse has numbers since Load, of all devices, where the graph does not fit them.
type CacheUse struct {
	Cached  bool   // the graph does not fit
	Looked  uint64 // partial matches whose last vertex was looked up
	Waited  uint64 // those of them whose vertex was not there, so that they waited for it
	Beyond  uint64 // searches of a query that needed more at once than a device holds, and were the CPU's
	Rounds  uint64 // how often vertices were chosen to be fetched
	Lists   uint64 // vertices whose entries were fetched
	Entries uint64 // the number of these entries
	Evicted uint64 // vertices that made room for others
}

// Bytes returns how many bytes were copied to devices for the entries.
func (u *CacheUse) Bytes() uint64 { return u.Entries * mirror.EntrySize }

// CacheUse returns how the devices have used what they hold of the graph.
func (b *Backend) CacheUse() (u CacheUse) {
	u.Cached = b.cached
	for _, s := range b.sides {
		if s.mirror == nil || !s.mirror.Cached() {
			continue
		}
		d := &s.run.deferred
		lists, entries, evicted := s.mirror.Moved()
		u.Looked, u.Waited, u.Beyond = u.Looked+d.looked, u.Waited+d.records, u.Beyond+d.handed
		u.Rounds, u.Lists, u.Entries = u.Rounds+d.rounds, u.Lists+lists, u.Entries+entries
		u.Evicted += evicted
	}
	return u
}
