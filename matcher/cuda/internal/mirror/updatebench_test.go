//go:build cuda || emu

package mirror_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"motifd/kernels"
	"motifd/matcher/cuda/cudatest"
	"motifd/matcher/cuda/internal/mirror"
)

var (
	updateVertices = flag.Int("motifd.update.vertices", 4_900_000, "vertices of BenchmarkGraphUpdate's graph")
	updateEdges    = flag.Int("motifd.update.edges", 40_000_000, "edges of BenchmarkGraphUpdate's graph")
	updateBatches  = flag.String("motifd.update.batches", "1000,10000,100000,1000000",
		"updates in a batch, comma separated")
	updateLabels = flag.Int("motifd.update.labels", 30, "vertices' labels in BenchmarkGraphUpdate")
	updateRounds = flag.Int("motifd.update.rounds", 20, "batches of each size")
)

// csr is an undirected graph: the neighbours of v, ascending, and the edges to them are from start[v] on.
type csr struct {
	start    []uint64
	nbr, ent []uint32
	n        []uint32 // by vertex: neighbours, after what was found twice has been dropped
}

// buildCSR returns the graph of the edges that are not dead; of equal ones it keeps the first.
func buildCSR(vertices int, from, to []uint32, dead []bool) *csr {
	g := &csr{start: make([]uint64, vertices+1), n: make([]uint32, vertices)}
	for e := range from {
		if !dead[e] {
			g.start[from[e]+1]++
			g.start[to[e]+1]++
		}
	}
	for v := range vertices {
		g.start[v+1] += g.start[v]
	}
	g.nbr, g.ent = make([]uint32, g.start[vertices]), make([]uint32, g.start[vertices])
	for e := range from {
		if dead[e] {
			continue
		}
		for _, x := range [2][2]uint32{{from[e], to[e]}, {to[e], from[e]}} {
			at := g.start[x[0]] + uint64(g.n[x[0]])
			g.nbr[at], g.ent[at] = x[1], uint32(e)
			g.n[x[0]]++
		}
	}
	parallel(vertices, func(from, to int) {
		var of []uint64
		for v := from; v < to; v++ {
			at := g.start[v]
			nbr, ent := g.nbr[at:at+uint64(g.n[v])], g.ent[at:at+uint64(g.n[v])]
			of = of[:0]
			for i := range nbr {
				of = append(of, uint64(nbr[i])<<32|uint64(ent[i]))
			}
			slices.Sort(of)
			of = slices.CompactFunc(of, func(a, b uint64) bool { return a>>32 == b>>32 })
			for i, x := range of {
				nbr[i], ent[i] = uint32(x>>32), uint32(x)
			}
			g.n[v] = uint32(len(of))
		}
	})
	return g
}

// parallel has f do parts of the numbers below n.
func parallel(n int, f func(from, to int)) {
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for k := range workers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			f(n*k/workers, n*(k+1)/workers)
		}()
	}
	wait.Wait()
}

func (g *csr) has(a, b uint32) bool {
	_, ok := slices.BinarySearch(g.nbr[g.start[a]:g.start[a]+uint64(g.n[a])], b)
	return ok
}

func (g *csr) entries() (n int) {
	for _, d := range g.n {
		n += int(d)
	}
	return n
}

// reader yields the entries in order, as load wants them.
func (g *csr) reader() func(row []uint64, nbr, ent []uint32) (int, error) {
	v, i := 0, uint32(0)
	return func(row []uint64, nbr, ent []uint32) (n int, err error) {
		for n < len(row) {
			for i == g.n[v] {
				v, i = v+1, 0
			}
			at, m := g.start[v]+uint64(i), min(int(g.n[v]-i), len(row)-n)
			copy(nbr[n:], g.nbr[at:at+uint64(m)])
			copy(ent[n:], g.ent[at:at+uint64(m)])
			for j := range m {
				row[n+j] = uint64(v) << 32
			}
			n, i = n+m, i+uint32(m)
		}
		return n, nil
	}
}

// updates makes batches: half insertions of edges that are not there, half deletions of edges that are.
type updates struct {
	rng      *rand.Rand
	vertices int
	from, to []uint32
	dead     []bool // or never there
	base     *csr
	label    []uint32 // by vertex
	inserted map[uint64]bool
}

func (u *updates) edge() (a, b uint32) {
	for a == b {
		r := u.rng.Float64()
		a, b = uint32(u.rng.IntN(u.vertices)), uint32(r*r*float64(u.vertices))
	}
	return min(a, b), max(a, b)
}

// op returns the operation that stages edge e.
func (u *updates) op(e int) kernels.Op {
	from, to := u.from[e], u.to[e]
	return kernels.Op{Ent: uint32(e) | kernels.Staged, From: from, To: to, Kind: u.label[to], Back: u.label[from]}
}

func (u *updates) batch(n int) (ops []kernels.Op) {
	for range n / 2 {
		e := u.rng.IntN(len(u.from))
		for u.dead[e] {
			e = u.rng.IntN(len(u.from))
		}
		u.dead[e] = true
		o := u.op(e)
		o.Kind |= kernels.Out
		ops = append(ops, o)
	}
	for range n - n/2 {
		a, b := u.edge()
		for u.inserted[uint64(a)<<32|uint64(b)] || u.base.has(a, b) {
			a, b = u.edge()
		}
		u.inserted[uint64(a)<<32|uint64(b)] = true
		u.from, u.to, u.dead = append(u.from, a), append(u.to, b), append(u.dead, false)
		ops = append(ops, u.op(len(u.from)-1))
	}
	u.rng.Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] })
	return ops
}

// BenchmarkGraphUpdate brings batches of random updates into the device's array: each update ends the batch before and
// stages the next, in one pass. It prints medians, the parts of them, and what writing the array anew takes, and
// compares the content in the end. Run it with
// -test.benchtime 1x.
func BenchmarkGraphUpdate(b *testing.B) {
	began := time.Now()
	u := &updates{rng: rand.New(rand.NewPCG(1, 2)), vertices: *updateVertices, inserted: map[uint64]bool{}}
	for range *updateEdges {
		x, y := u.edge()
		u.from, u.to = append(u.from, x), append(u.to, y)
	}
	for range u.vertices {
		u.label = append(u.label, uint32(u.rng.IntN(*updateLabels)))
	}
	u.dead = make([]bool, len(u.from))
	u.base = buildCSR(u.vertices, u.from, u.to, u.dead)
	parallel(len(u.dead), func(from, to int) {
		for e := from; e < to; e++ { // what was found twice was never there
			x := u.from[e]
			at := u.base.start[x]
			i, _ := slices.BinarySearch(u.base.nbr[at:at+uint64(u.base.n[x])], u.to[e])
			u.dead[e] = u.base.ent[at+uint64(i)] != uint32(e)
		}
	})
	fmt.Printf("graph: %d vertices, %d edges (made in %.1f s)\n", u.vertices, u.base.entries()/2, time.Since(began).
		Seconds())
	dev := cudatest.NewDevice(b, u.rng)
	defer dev.Close()
	a := mirror.NewArray(dev, false, false, kernels.RankMost, 0)
	defer func() { check(b, a.Free()) }()
	room := len(u.from)
	for _, s := range strings.Split(*updateBatches, ",") {
		n, err := strconv.Atoi(s)
		check(b, err)
		room += n * (*updateRounds + 2)
	}
	for range 2 {
		began := time.Now()
		rows := min(u.base.entries(), u.vertices**updateLabels)
		check(b, a.Load(u.base.entries(), rows, u.vertices, *updateLabels, room, u.label, u.base.reader()))
		fmt.Printf("update: load of all from the host %.1f ms, %d leaves\n", ms(time.Since(began)), a.Leaves())
	}
	for _, s := range strings.Split(*updateBatches, ",") {
		n, _ := strconv.Atoi(s)
		updateRound(b, a, u, n, room)
	}
	var rewrites []float64
	check(b, a.Update(nil, 0, mirror.Committed, u.vertices, *updateLabels, room))
	for range 5 {
		began := time.Now()
		check(b, a.Rewrite())
		rewrites = append(rewrites, ms(time.Since(began)))
	}
	slices.Sort(rewrites)
	fmt.Printf("update: all written anew on the device %.3f ms, allocation included\n", rewrites[2])
	compareWith(b, a, u)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// updateRound times batches of n updates.
func updateRound(b *testing.B, a mirror.Array, u *updates, n, room int) {
	var walls []float64
	parts := map[string][]float64{}
	var order []string
	var events []kernels.Event
	rewritten, spread, pending := 0, 0, 0
	rounds := *updateRounds
	if n >= 1_000_000 {
		rounds = min(rounds, 10)
	}
	for round := range rounds + 2 {
		ops := u.batch(n)
		timed := round%2 == 1
		a.Watch(nil)
		var marks []string
		if timed {
			a.Watch(func(stage string) error {
				if len(marks) == len(events) {
					e, err := a.Device().NewEvent()
					check(b, err)
					events = append(events, e)
				}
				err := a.Stream().Record(events[len(marks)])
				marks = append(marks, stage)
				return err
			})
		}
		began := time.Now()
		check(b, a.Update(ops, len(ops), mirror.Committed, u.vertices, *updateLabels, room))
		took := ms(time.Since(began))
		s := a.Status()
		if s.Rebuild != 0 {
			rewritten++
		}
		if round < 2 {
			continue
		}
		spread += int(s.Segments)
		pending += int(s.Pending)
		if !timed {
			walls = append(walls, took)
			continue
		}
		check(b, a.Stream().Sync())
		for i := 1; i < len(marks); i++ {
			check(b, events[i].Sync())
			t, err := events[i].Since(events[i-1])
			check(b, err)
			if parts[marks[i]] == nil {
				order = append(order, marks[i])
			}
			parts[marks[i]] = append(parts[marks[i]], t)
		}
	}
	a.Watch(nil)
	median := func(x []float64) float64 {
		slices.Sort(x)
		return x[len(x)/2]
	}
	low := slices.Min(walls)
	fmt.Printf("update: %8d updates: median %8.3f ms, least %8.3f ms;", n, median(walls), low)
	for _, p := range order {
		fmt.Printf(" %s %.3f", p, median(parts[p]))
	}
	fmt.Printf("; written anew %d times, %d leaves climbed, %d windows\n", rewritten, pending, spread)
}

// compareWith compares the array with the edges that are there.
func compareWith(b *testing.B, a mirror.Array, u *updates) {
	began := time.Now()
	c, err := a.Read(0)
	check(b, err)
	g := buildCSR(u.vertices, u.from, u.to, u.dead)
	if len(c.Entries) != g.entries() {
		b.Fatalf("the array has %d entries, the graph %d", len(c.Entries), g.entries())
	}
	i := 0
	var of []mirror.Entry
	for v := range u.vertices {
		at := g.start[v]
		of = of[:0]
		for j := range uint64(g.n[v]) {
			nbr := g.nbr[at+j]
			of = append(of, mirror.Entry{Row: uint64(v)<<32 | uint64(u.label[nbr]), Nbr: nbr, Ent: g.ent[at+j]})
		}
		slices.SortFunc(of, entryOrder)
		for _, want := range of {
			if c.Entries[i] != want {
				b.Fatalf("entry %d is %x, not %x", i, c.Entries[i], want)
			}
			i++
		}
		want := mirror.Span{}
		if n := len(of); n > 0 {
			want = mirror.Span{Begin: c.Slots[i-n], End: c.Slots[i-1] + 1, First: uint32(of[0].Row),
				Last: uint32(of[n-1].Row)}
		}
		if c.Span[v] != want || c.Degree[v] != g.n[v] {
			b.Fatalf("vertex %d of degree %d: %+v, degree %d, not %+v", v, g.n[v], c.Span[v], c.Degree[v], want)
		}
	}
	fmt.Printf("update: all %d entries are right (%.1f s)\n", len(c.Entries), time.Since(began).Seconds())
}
