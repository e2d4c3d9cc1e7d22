//go:build cuda || emu

package cuda

import (
	"math/bits"
	"slices"
	"sync"
)

// Sizes of what a dealer deals.
const (
	leastBlock = 32   // tasks: a warp takes as many
	mostBlocks = 4096 // by side; not tuned
)

// How a dealer deals, in nanoseconds. Benchmarks change it. On an H100 the last tasks of a launch take 0.9 ms, of which
// leastChunk is about twice as much. Not tuned otherwise.
var (
	// atOnce is the time of a side below which all tasks are dealt in one round: what the sides wait for one another is
	// less than what further launches cost.
	atOnce = 50e6
	// leastChunk is the time of a chunk for which another launch pays.
	leastChunk = 2e6
	// roundShare is the part of the remaining tasks that a round deals.
	roundShare = 0.9
)

// dealer deals the tasks 0 to n-1 of a search to sides that work concurrently, in chunks that become smaller (guided
// self-scheduling by rounds: Hummel, Schonberg and Flynn, Factoring, CACM 1992): a round deals most of the tasks
// that are left, equally, until the rest is hardly worth a launch of each side. A short search is one round.
//
// Tasks are dealt in blocks of neighbours, in an order that spreads the blocks of a chunk evenly over all tasks: heavy
// tasks are often neighbours, of one query or of one label. One side gets all tasks in their order.
type dealer struct {
	n, block    int // tasks, and tasks of a block
	blocks      int
	step        int // from a block to the one that is dealt next, modulo blocks
	sides, most int // number of sides; maximum number of blocks of a chunk

	mu          sync.Mutex
	next        int // blocks dealt
	size, round int // of the present round: blocks of a chunk, and chunks left
	back        []chunkOfTasks
	rate        float64 // nanoseconds of a task; 0: unknown
}

// chunkOfTasks is a range of blocks in the order in which they are dealt.
type chunkOfTasks struct{ from, to int }

// newDealer returns a dealer of n tasks, at most most at a time. rate is the expected time of a task.
func newDealer(n, sides, most int, rate float64) *dealer {
	d := &dealer{n: n, block: most, sides: sides, most: 1, rate: rate, step: 1}
	if sides > 1 {
		d.block = min(most, max(leastBlock, n/(sides*mostBlocks)))
		d.most = max(1, most/d.block)
	}
	d.blocks = (n + d.block - 1) / d.block
	if sides > 1 {
		d.step = spreading(d.blocks)
	}
	return d
}

// spreading returns a number near the golden section of n that has no divisor in common with it.
func spreading(n int) int {
	hi, _ := bits.Mul64(uint64(n), 11400714819323198485) // 2^64 / golden ratio
	for step := max(1, int(hi)); ; step++ {
		if gcd(step, n) == 1 {
			return step
		}
	}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// take returns the next chunk. ok is false if there is none now; a side that fails may give one back.
func (d *dealer) take() (c chunkOfTasks, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.back); n > 0 {
		c, d.back = d.back[n-1], d.back[:n-1]
		return c, true
	}
	rest := d.blocks - d.next
	if rest == 0 {
		return c, false
	}
	if d.round == 0 {
		d.size, d.round = int(float64(rest)*roundShare)/d.sides, d.sides
		least := 2 * leastChunk
		if d.next == 0 {
			least = atOnce
		}
		if each := (rest + d.sides - 1) / d.sides; d.rate > 0 && float64(each*d.block)*d.rate < least {
			d.size = each
		}
		d.size = min(max(d.size, 1), d.most)
	}
	c = chunkOfTasks{d.next, d.next + min(rest, d.size)}
	d.round, d.next = d.round-1, c.to
	return c, true
}

// giveBack takes a chunk back that was not searched.
func (d *dealer) giveBack(c chunkOfTasks) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.back = append(d.back, c)
}

// took tells the time of a chunk in nanoseconds; 0: it was not measured.
func (d *dealer) took(c chunkOfTasks, ns int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rate = float64(ns) / float64((c.to-c.from)*d.block)
}

// left reports whether tasks are left to deal.
func (d *dealer) left() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.next < d.blocks || len(d.back) > 0
}

// ranges returns the tasks of a chunk as ranges, which ascend.
func (d *dealer) ranges(c chunkOfTasks) (all [][2]int) {
	of := make([]int, 0, c.to-c.from)
	for p := c.from; p < c.to; p++ {
		hi, lo := bits.Mul64(uint64(p), uint64(d.step))
		_, b := bits.Div64(hi, lo, uint64(d.blocks))
		of = append(of, int(b))
	}
	slices.Sort(of)
	for _, b := range of {
		from, to := b*d.block, min(d.n, (b+1)*d.block)
		if k := len(all) - 1; k >= 0 && all[k][1] == from {
			all[k][1] = to
		} else {
			all = append(all, [2]int{from, to})
		}
	}
	return all
}
