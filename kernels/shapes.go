//go:build cuda || emu

package kernels

// Launch shapes, all in one place.

// warp is the number of lanes.
const warp = 32

// maxBlockWarps is kBlockWarps of wbm.cuh, the most a block of the search has.
const maxBlockWarps = 8

// flatThreads is the block size of kernels with one thread for each item: kThreads of gpma.cuh.
const flatThreads = 256

// Shape is the grid of the search kernel.
type Shape struct {
	Blocks, BlockWarps int
}

// Warps returns the number of warps.
func (s Shape) Warps() int { return s.Blocks * s.BlockWarps }

// Fill returns the grid of a search, for rows or for totals, that fills the device once. Its warps stay until all work
// is done.
func Fill(i Info, rows bool) Shape {
	each := i.BlocksEach
	if rows {
		each = i.RowBlocksEach
	}
	return Shape{Blocks: i.Multiprocessors * max(1, each), BlockWarps: maxBlockWarps}
}

// flat returns a number of blocks for n threads' work: a few for each multiprocessor at most.
func flat(q Queue, n int) int {
	return max(1, min((n+flatThreads-1)/flatThreads, q.Info().Multiprocessors*8))
}

// RunPatch launches patch.
func RunPatch(q Queue, p Patch) error {
	if p.Records == 0 {
		return nil
	}
	return q.Launch("patch", flat(q, int(p.Records)*int(p.Words)), flatThreads, BytesOf(&p))
}

// RunSpace makes the space of a program that has these back edges: it launches spacemark, then spacejoin or
// spacejoinranges for each of them, from the last to the first.
func RunSpace(q Queue, p Space, backs int) error {
	if p.Vertices == 0 {
		return nil
	}
	blocks := flat(q, int(p.Vertices))
	if err := q.Launch("spacemark", blocks, flatThreads, BytesOf(&p)); err != nil {
		return err
	}
	join := "spacejoin"
	if p.Graph.Base != 0 {
		join += "ranges"
	}
	for i := range backs {
		p.Back = uint32(backs - 1 - i)
		if err := q.Launch(join, blocks, flatThreads, BytesOf(&p)); err != nil {
			return err
		}
	}
	return nil
}

// RunTasks launches tasks.
func RunTasks(q Queue, p Runs) error {
	if p.Tasks == 0 {
		return nil
	}
	return q.Launch("tasks", flat(q, int(p.Tasks)), flatThreads, BytesOf(&p))
}

// Searches are the kernels that search: for totals, and for rows; then those that test conditions and know pairs; then
// the one for rows that tests negations, too; then those that do all this in a graph with ranges.
var Searches = [7]string{"wbm", "wbmrows", "wbmwhere", "wbmrowswhere", "wbmrowsabsent", "wbmranges", "wbmrowsranges"}

// Kind says which of the kernels a search needs: for sorted rows or for totals, with programs that test conditions or
// without, with such for rows that test negations, and in a graph with ranges (Graph.Base) or without.
type Kind struct{ Rows, Where, Absent, Ranges bool }

// form returns the end of the name of a kernel with what a search needs.
func (k Kind) form() string {
	switch {
	case k.Ranges:
		return "ranges"
	case k.Absent && k.Rows:
		return "absent"
	case k.Where:
		return "where"
	}
	return ""
}

// RunFlat launches wbmflat, wbmflatwhere or wbmflatranges. RunSearch with the same parameters does the tasks that it
// leaves.
func RunFlat(q Queue, s Shape, k Kind, p Search) error {
	k.Rows = false
	return q.Launch("wbmflat"+k.form(), s.Blocks, s.BlockWarps*warp, BytesOf(&p))
}

// RunSearch launches one of Searches.
func RunSearch(q Queue, s Shape, k Kind, p Search) error {
	kernel := "wbm"
	if k.Rows {
		kernel += "rows"
	}
	return q.Launch(kernel+k.form(), s.Blocks, s.BlockWarps*warp, BytesOf(&p))
}

// RunFetch launches fetch: it copies words to memory that the device reaches, such as page-locked memory of the host.
func RunFetch(q Queue, dst, src Ptr, words int) error {
	p := fetch{Dst: dst, Src: src, Words: uint64(words)}
	return q.Launch("fetch", flat(q, words), flatThreads, BytesOf(&p))
}
