//go:build cuda || emu

package kernels

// The types here are laid out as their namesakes in graph.cuh, plan.cuh and state.cuh.

// None is no vertex, entry or edge; also the anchor of a program that starts at a vertex.
const None = ^uint32(0)

// Bounds of a program.
const (
	MaxSteps = 32
	MaxBacks = 64
)

// Modes of a program: what is wanted of it.
const (
	ModeRows uint32 = iota
	ModeCount
	ModeAny
)

// What a search sees: a view, or the graph just before the anchor.
const (
	SeeView uint32 = iota
	SeeInserted
	SeeDeleted
)

// Graph is the device's copy of the graph.
type Graph struct {
	Row, Nbr, Ent, Count, Span, Order, Bits Ptr
	Words, Dirs                             uint32
}

// Sizes, in bytes, of what only kernels look into.
const (
	SpanSize   = 16
	ParkedSize = stateSize + 8
	StateSize  = stateSize
	stateSize  = 8*4 + MaxSteps*4 + MaxBacks*4 + MaxBacks*8 + MaxSteps*16
)

// Back is a back edge of a step.
type Back struct {
	Step, Label, Dir, Edge uint32
	Rule, _                uint32
}

// Rules of back edges: which staged edges they may map to. See plan.cuh.
const (
	RuleByOrder uint32 = iota
	RuleUnchanged
	RuleAnyEdge
	RuleInView
)

// Step maps one pattern vertex. Sets of steps are bit masks.
type Step struct {
	Vertex, Word, _, _  uint32
	Mask                uint64
	Clash, Above, Below uint32
	Back, Backs         uint32
	_                   uint32
}

// Leaf is a group of alike leaves: the step of one of them, how many there are, and their column of the memo.
type Leaf struct {
	Step, Size, Column, _ uint32
}

// Program is a matching order as data.
type Program struct {
	Mode            uint32
	Steps, Start    uint32
	Leaves, Groups  uint32
	Anchor          uint32
	Vertices, Edges uint32
	Step            [MaxSteps]Step
	Back            [MaxBacks]Back
	Leaf            [MaxSteps]Leaf
}

// Task is a search to be made: a program, with a net edge or a first vertex.
type Task struct {
	Program, Net uint32
}

// Net is a net edge of the batch.
type Net struct {
	Edge, From, To uint32
}

// Tally is what was counted for a request.
type Tally struct {
	Low, High, Steps uint64
	Over, _          uint32
}

// Control is shared by the warps and the launches of one search.
type Control struct {
	Used, Full     uint64
	Next, Busy     uint32
	Idle, Lock     uint32
	Queued, Parked uint32
	Stolen, Shared uint32
}

// Search is the parameters of kernel wbm.
type Search struct {
	Graph                                                                              Graph
	Program, Owner, Task, Net, Tally, Stop, Control, Parked, Queue, Ring, Memo, Column Ptr
	RingWords                                                                          uint64
	Tasks, Take, Sees, Old, QueueSize, Steal                                           uint32
	Slice, Vertices                                                                    uint32
}

// Patch is the parameters of kernel patch.
type Patch struct {
	Dst, Src, At   Ptr
	Records, Words uint32
}

// Spans is the parameters of kernel spans.
type Spans struct {
	Row, Count, Span, Leaf Ptr
	Leaves, Total          uint32
	Dirs, _                uint32
}
