//go:build cuda || emu

package kernels

// The types here have the layout of those of the same name in graph.cuh, plan.cuh and state.cuh, and the constants have
// their values. The CUDA sources assert that by layouts.cuh, which layout_test.go writes.

// None is no vertex, entry or edge; also the anchor of a program that starts at a vertex, and the vertex of an edge
// step.
const None = ^uint32(0)

// Limits of a program. Those without a source are of plan.cuh.
const (
	MaxVertices = 32
	MaxBacks    = 64
	MaxSteps    = MaxBacks + 1
	AnchorAt    = MaxBacks - 1 // the anchor among the images of back edges
	MaxStride   = 128          // words of a row: kMaxStride of rows.cuh
	outWords    = 512          // words of the rows that a warp keeps in shared memory: kOutWords of emit.cuh
	FlatBacks   = 3            // maximum back edges of a step for flat.cuh: kFlatBacks
	FlatLevels  = 4            // levels of counting in blocks in shared memory: kFlatLevels of flatmail.cuh
)

// Modes of a program, by the kind of answer: Mode of plan.cuh.
const (
	ModeRows uint32 = iota
	ModeCount
	ModeAny
)

// What a search sees: a view, or the graph just before the anchor. Sees of graph.cuh.
const (
	SeeView uint32 = iota
	SeeInserted
	SeeDeleted
)

// Graph is the device's copy of the graph. Bits has Words words by vertex. Sees and Old say which part of it a search
// sees; Old is 1 for the view before the batch. Base has, by range of vertices (their ids shifted by Shift), the leaf
// at which its slots begin; without it there is one range, from leaf 0 on.
type Graph struct {
	Nbr, Ent, Count, Runs, FenceRow, FenceNbr, Span, Order, Bits, Label Ptr
	Base, Pairs                                                         Ptr
	Words, Dirs, NbrBits                                                uint32
	Sees, Old, Shift, PairMask, _                                       uint32
	Where                                                               Where
}

// Where holds the data that conditions on edges, and those on several elements, read. Words has Stride words by edge:
// first its truth words; from Presence on, a bit for each column that tells whether the edge has a value there; from
// Values on, the values. Those of a vertex are behind its candidate bits in Graph.Bits.
type Where struct {
	Words, Interval, Instr          Ptr
	Labels                          Ptr // of sets of labels
	Stride, Presence, Values        uint32
	VertexPresence, VertexValues, _ uint32
}

// Interval is an interval of values of some bits of a truth word, those of Mask from bit Shift on: Lo to Lo+More.
type Interval struct {
	Mask, Lo, More uint64
	Word, Shift    uint32
}

// Labels is a range of labels of edges, First to Last, and how many ranges of the same set follow it, ascending.
type Labels struct {
	First, Last, More uint32
}

// Instr is an instruction of a condition on values of several elements: Operation of graph.cuh says what each does.
type Instr struct {
	Left, Right          int64
	Op, At, Column, More uint32
}

// BlockerAt is, among the images that an Instr behind OpAbsent reads, the edge that may block the match.
const BlockerAt = MaxBacks

// Operations of an Instr.
const (
	OpEdgeValue uint32 = iota
	OpVertexValue
	OpNumber
	OpNull
	OpSum
	OpProduct
	OpCompare
	OpIsNull
	OpAnd
	OpOr
	OpNear
	OpHolds
	OpAbsent
)

// Sizes, in bytes, of structures that only kernels read: Span of graph.cuh, Parked and State of state.cuh.
const (
	SpanSize   = 16
	ParkedSize = stateSize + 8
	StateSize  = stateSize
	stateSize  = 9*4 + MaxVertices*4 + MaxBacks*4 + MaxBacks*8 + MaxSteps*16
)

// FlatsSize returns the size in bytes of Flats of flatmail.cuh with a number of levels.
func FlatsSize(levels int) int { return 4 + 2*32*4 + levels*(2+4*32)*4 }

// Back is a back edge of a step.
type Back struct {
	From, To               uint32 // positions: the number of vertices mapped before
	Label, Dir, Edge, Rule uint32
	NbrLabel               uint32 // label of the vertex at To, or AnyLabel
	Test, Tests            uint32 // conditions on the edge alone: the first Interval, and their number
}

// Label and direction of a loose back edge, which may have several images between two vertices. A label from Among on
// is a set of labels, whose first range is Where.Labels[label - Among]; only kernels with conditions know these. No
// edge has NoLabel.
const (
	AnyLabel        = ^uint32(0)
	Among    uint32 = 1 << 31
	NoLabel         = Among - 1
	Either   uint32 = 2
)

// Rules of back edges, which staged edges they may map to: Rule of plan.cuh.
const (
	RuleByOrder uint32 = iota
	RuleUnchanged
	RuleAnyEdge
	RuleInView
)

// Step maps one pattern vertex together with the first Own of its back edges, or one edge. Sets of positions and of
// edges are bit masks. See plan.cuh.
type Step struct {
	Vertex, Position              uint32
	Mask, Apart                   uint64
	Word, Conflicts, Above, Below uint32
	Back, Backs, Own              uint32
	After, Before                 uint32
}

// Leaf is a group of alike leaves: the step of one of them, their number, and their memo column. Pair, unless 0: it may
// be mapped to the same vertex as the group before, and both have one leaf; Pair-1 is the number of the pair.
type Leaf struct {
	Step, Size, Column, Pair uint32
}

// Slice is items of an array: the first, and their number.
type Slice struct {
	First, Number uint32
}

// Program is a matching order as data. Check has, by step, the instructions of the conditions on several elements of
// which the step maps the last one.
type Program struct {
	Mode            uint32
	Steps, Start    uint32
	Leaves, Groups  uint32
	Anchor          uint32
	Vertices, Edges uint32
	Keep            uint32
	Images, Image   uint32
	Flat            uint32
	Step            [MaxSteps]Step
	Back            [MaxBacks]Back
	Leaf            [MaxSteps]Leaf
	Check           [MaxSteps]Slice
}

// Space has the parameters of spacemark and spacejoin: the space has a word by vertex, with a bit by position of the
// program's order. Back is the back edge of a semi-join.
type Space struct {
	Graph          Graph
	Program, Space Ptr
	Vertices, Back uint32
}

// Task is one search: a program, a net edge or a first vertex, and the group of its rows.
type Task struct {
	Program, Net, Group uint32
}

// Run is adjacent tasks with the same program and group: First is the number of tasks before them, Net the index in
// Runs.Net of the first of their net edges.
type Run struct {
	First, Net, Program, Group uint32
}

// Runs has the parameters of kernel tasks. The runs ascend, and the first begins with task 0.
type Runs struct {
	Run, Net, Task Ptr
	Runs, Tasks    uint32
}

// Net is a net edge of the batch.
type Net struct {
	Edge, From, To uint32
}

// Tally has the totals of a request: the count (High, Low) and the steps.
type Tally struct {
	Low, High, Steps uint64
	Over, _          uint32
}

// Control is shared by the warps and the launches of one search.
type Control struct {
	Used           uint64
	_              [30]uint32
	Next           uint32
	_              [31]uint32
	Taken, Left    uint32
	_              [30]uint32
	Busy, Parked   uint32
	Stolen, Shared uint32
	Counting, Held uint32
	Given, Stop    uint32
}

// Programs holds the programs to search. Owner has the request of each.
type Programs struct {
	Program, Owner, Image Ptr
}

// Memo holds, by column and vertex, the number of candidates that a vertex has for a leaf. Values up to Known are from
// earlier searches and are not valid. Both has those of two vertices for a pair of leaves, in 1<<SlotBits slots of 8
// bytes.
type Memo struct {
	Offer, Column, Both, Pair        Ptr
	Known, Vertices                  uint32
	VertexBits, KeyBits, SlotBits, _ uint32
}

// TaskQueue is the queue from which warps take work: Tasks tasks, Take at a time, for Slice turns in a launch. When the
// row buffer has more than Closing rows, no more tasks are taken. Mailing 0 turns off the exchange of work between
// blocks, Steal 0 work stealing inside a block. Unless Heeds is 0, warps park soon after Control.Stop is set.
type TaskQueue struct {
	Task, Net, Control, Parked, Box, Mail, Left, FlatBox, FlatMail Ptr
	Tasks, Take, Mailing, Steal, Slice, Closing, FlatWords, Heeds  uint32
}

// Output is the place to which results are written: Tally and Stop by request, and rows of Stride words in Buffer,
// which is full at Capacity rows.
type Output struct {
	Tally, Stop, Buffer Ptr
	Capacity            uint64
	Stride, _           uint32
}

// Search has the parameters of the kernels that search.
type Search struct {
	Graph    Graph
	Programs Programs
	Memo     Memo
	Queue    TaskQueue
	Output   Output
}

type fetch struct {
	Dst, Src Ptr
	Words    uint64
}

// Patch has the parameters of kernel patch.
type Patch struct {
	Dst, Src, At   Ptr
	Records, Words uint32
}
