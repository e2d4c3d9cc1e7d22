package dyngraph

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"motifd/dyngraph/property"
)

// churn is a random directed graph of one edge label, with endless batches that keep its size: every second update
// deletes an edge that is there, whichever, the others insert one that is not.
type churn struct {
	g    *Graph
	rnd  *rand.Rand
	keys []string // by vertex; equal to the graph's, but other strings, as those of a decoded record are
	live []churnEdge
	attr func(i int) Attr     // of the i-th edge that there ever was
	made int                  // edges
	have map[[2]VertexID]bool // what a batch in the making deletes or inserts
	odd  bool
}

// churnEdge is an edge that is there: its ends, and which one it was of those that there ever were.
type churnEdge struct {
	ends [2]VertexID
	made int
}

// churnDegree is the number of edges to a vertex, about.
const churnDegree = 10

// newChurn loads the graph, of edges without attributes.
func newChurn(tb testing.TB, edges int) *churn {
	return newChurnOf(tb, edges, Options{}, func(int) Attr { return Attr{} })
}

func newChurnOf(tb testing.TB, edges int, opt Options, attr func(i int) Attr) *churn {
	tb.Helper()
	c := &churn{rnd: rand.New(rand.NewPCG(3, 3)), have: map[[2]VertexID]bool{}, attr: attr}
	vertices := edges / churnDegree
	opt.Directed, opt.Background = true, beside
	l := NewLoader(opt)
	must := func(err error) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	must(l.Label("T"))
	for id := range vertices {
		must(l.Vertex(VertexRecord{ID: VertexID(id), Key: "account-" + strconv.Itoa(id), Label: NoLabel}))
		c.keys = append(c.keys, "account-"+strconv.Itoa(id))
	}
	for id := range VertexID(vertices) {
		to := make([]VertexID, churnDegree)
		for i := range to {
			to[i] = VertexID(c.rnd.IntN(vertices))
		}
		slices.Sort(to)
		for _, t := range slices.Compact(to) {
			if t != id {
				must(l.Edge(EdgeRecord{From: id, Label: 1, To: t, Attr: c.next()}))
				c.live = append(c.live, churnEdge{[2]VertexID{id, t}, c.made - 1})
			}
		}
	}
	var err error
	c.g, err = l.Graph()
	must(err)
	return c
}

// next returns the attributes of the next edge.
func (c *churn) next() Attr {
	c.made++
	return c.attr(c.made - 1)
}

// insertion draws an edge that is not there.
func (c *churn) insertion() Update {
	for {
		e := [2]VertexID{VertexID(c.rnd.IntN(len(c.keys))), VertexID(c.rnd.IntN(len(c.keys)))}
		if _, ok := c.g.findEdge(e[0], e[1], 1); ok || e[0] == e[1] || c.have[e] {
			continue
		}
		c.have[e] = true
		c.live = append(c.live, churnEdge{e, c.made})
		return Update{Op: InsertEdge, From: c.keys[e[0]], To: c.keys[e[1]], Label: "T", Attr: c.next()}
	}
}

// deletion draws an edge that is there before the batch.
func (c *churn) deletion() Update {
	for {
		i := c.rnd.IntN(len(c.live))
		made, e := c.live[i].made, c.live[i].ends
		if c.have[e] {
			continue
		}
		c.have[e] = true
		c.live[i] = c.live[len(c.live)-1]
		c.live = c.live[:len(c.live)-1]
		u := Update{Op: DeleteEdge, From: c.keys[e[0]], To: c.keys[e[1]], Label: "T"}
		if c.g.Options().EdgeIDs {
			u.Attr.ID = c.attr(made).ID
		}
		return u
	}
}

func (c *churn) batch(size int) []Message {
	clear(c.have)
	m := make([]Message, size)
	for i := range m {
		if c.odd = !c.odd; c.odd {
			m[i].Updates = []Update{c.insertion()}
		} else {
			m[i].Updates = []Update{c.deletion()}
		}
	}
	return m
}

// accept is Accept of what it takes whole.
func (c *churn) accept(tb testing.TB, m []Message) []Update {
	u, rejects := c.g.Accept(m)
	if len(rejects) > 0 {
		tb.Fatal(rejects[0].Err)
	}
	return u
}

func (c *churn) apply(tb testing.TB, u []Update) {
	d, err := c.g.Stage(u)
	if err != nil {
		tb.Fatal(err)
	}
	if len(d.Net) != len(u) {
		tb.Fatalf("%d net edges of %d updates", len(d.Net), len(u))
	}
	c.g.Commit()
}

// run churns for a number of updates.
func (c *churn) run(tb testing.TB, updates int) {
	const size = 10_000
	for range updates / size {
		c.apply(tb, c.accept(tb, c.batch(size)))
	}
}

// The clocks of processor time that the process and the calling thread have used: CLOCK_PROCESS_CPUTIME_ID and
// CLOCK_THREAD_CPUTIME_ID, which are finer than getrusage.
const (
	processTime = 2
	threadTime  = 3
)

func cpuTime(clock uintptr) time.Duration {
	var t syscall.Timespec
	if _, _, e := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0); e != 0 {
		panic(e) // a constant argument
	}
	return time.Duration(t.Nano())
}

// CPUTime is the processor time that the process has used.
func CPUTime() time.Duration { return cpuTime(processTime) }

// BenchmarkBatches is Stage and Commit of batches of 10,000 random updates, keys resolved by Accept beforehand, in a
// graph of 3 million edges: updates per second of processor time, the collector's included. Accept is shown beside
// it.
func BenchmarkBatches(b *testing.B) {
	const size = 10_000
	c := newChurn(b, 3_000_000)
	c.run(b, 300_000)
	var accept, apply time.Duration
	var each []time.Duration
	b.ResetTimer()
	for b.Loop() {
		b.StopTimer()
		m := c.batch(size)
		t0 := cpuTime(processTime)
		u := c.accept(b, m)
		t1 := cpuTime(processTime)
		b.StartTimer()
		c.apply(b, u)
		b.StopTimer()
		t2 := cpuTime(processTime)
		accept, apply = accept+t1-t0, apply+t2-t1
		each = append(each, t2-t1)
		b.StartTimer()
	}
	n := float64(b.N * size)
	slices.Sort(each)
	b.ReportMetric(n/apply.Seconds(), "updates/s")
	b.ReportMetric(size/each[len(each)/10].Seconds(), "p10-updates/s") // when others leave the caches alone
	b.ReportMetric(n/(accept+apply).Seconds(), "accepted+applied/s")
	b.ReportMetric(float64(accept.Nanoseconds())/n, "ns/accept")
}

// BenchmarkSmallBatches is how long Stage and Commit of few updates take, in graphs of different sizes. Batches
// during which a column or the array changed its size are counted apart.
func BenchmarkSmallBatches(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, edges := range []int{300_000, 3_000_000, 10_000_000} {
		c := newChurn(b, edges)
		c.run(b, edges/10)
		for _, size := range []int{1, 10, 100} {
			b.Run(fmt.Sprintf("edges=%d/updates=%d", edges, size), func(b *testing.B) { benchSmallBatches(b, c, size) })
		}
	}
}

func benchSmallBatches(b *testing.B, c *churn, size int) {
	var wall, cpu []time.Duration
	grown := 0
	for b.Loop() {
		u := c.accept(b, c.batch(size))
		before := c.g.sizes()
		t0, w0 := cpuTime(threadTime), time.Now()
		c.apply(b, u)
		w, t := time.Since(w0), cpuTime(threadTime)-t0
		if c.g.sizes() != before {
			grown++
			continue
		}
		wall, cpu = append(wall, w), append(cpu, t)
	}
	slices.Sort(wall)
	slices.Sort(cpu)
	us := func(d []time.Duration, part float64) float64 {
		return float64(d[int(part*float64(len(d)-1))].Nanoseconds()) / 1e3
	}
	b.ReportMetric(us(wall, 0.5), "p50-µs")
	b.ReportMetric(us(wall, 0.99), "p99-µs")
	b.ReportMetric(us(wall, 1), "max-µs")
	b.ReportMetric(us(cpu, 0.99), "cpu-p99-µs")
	b.ReportMetric(us(cpu, 1), "cpu-max-µs")
	b.ReportMetric(float64(grown), "grown")
}

// BenchmarkMemory measures the memory of the graph for an edge, of about ten to a vertex: without the dictionary of
// keys, and the dictionary apart, for a vertex; with attributes, of an id of 8 bytes and properties of 14, and without.
// Declared are ts and an amount in cents, under identity ends or, with ids, under identity id. Churned means that 1.5
// million edges of three were deleted, whichever, and as many others inserted.
func BenchmarkMemory(b *testing.B) {
	heap := func() float64 {
		runtime.GC()
		runtime.GC() // what the first one's finalizers let go
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	bare := func(int) Attr { return Attr{} }
	ts := func(i int) Attr { return Attr{TS: int64(i), HasTS: true} }
	tsID := func(i int) Attr { return Attr{TS: int64(i), HasTS: true, ID: fmt.Sprintf("%08d", i)} }
	tsIDProps := func(i int) Attr {
		return Attr{TS: int64(i), HasTS: true, ID: fmt.Sprintf("%08d", i), Props: fmt.Appendf(nil, `{"n":%08d}`, i)}
	}
	declared := Options{Schema: &property.Schema{Edges: property.Declarations{property.Any: {
		"amount": {Kind: property.Decimal, Scale: 2}, "ts": {Kind: property.Timestamp}}}}}
	named := declared
	named.EdgeIDs = true
	amount := func(i int) Attr {
		return Attr{TS: int64(i), HasTS: true, Values: []property.Value{property.Units(int64(i%1_000_000), 2)}}
	}
	amountID := func(i int) Attr {
		a := amount(i)
		a.ID = fmt.Sprintf("%08d", i)
		return a
	}
	churned := func(c *churn) { c.run(b, 3_000_000) }
	for _, t := range []struct {
		name string
		opt  Options
		attr func(i int) Attr
		make func(c *churn)
	}{
		{"loaded", Options{}, bare, func(*churn) {}},
		{"loaded-ts", Options{}, ts, func(*churn) {}},
		{"loaded-ts-id", Options{}, tsID, func(*churn) {}},
		{"loaded-ts-id-props", Options{}, tsIDProps, func(*churn) {}},
		{"churned", Options{}, bare, churned},
		{"churned-ts", Options{}, ts, churned},
		{"churned-ts-id", Options{}, tsID, churned},
		{"churned-ts-id-props", Options{}, tsIDProps, churned},
		{"loaded-declared", declared, amount, func(*churn) {}},
		{"loaded-declared-id", named, amountID, func(*churn) {}},
		{"churned-declared", declared, amount, churned},
		{"churned-declared-id", named, amountID, churned},
		{"grown-by-a-tenth", Options{}, bare, func(c *churn) {
			for range 300_000 / 1000 {
				clear(c.have)
				var m []Message
				for range 1000 {
					m = append(m, Message{[]Update{c.insertion()}})
				}
				c.apply(b, c.accept(b, m))
			}
			c.run(b, 1_000_000)
		}},
		{"shrunk-by-a-tenth", Options{}, bare, func(c *churn) {
			for range 300_000 / 1000 {
				clear(c.have)
				var m []Message
				for range 1000 {
					m = append(m, Message{[]Update{c.deletion()}})
				}
				c.apply(b, c.accept(b, m))
			}
			c.run(b, 1_000_000)
		}},
	} {
		b.Run(t.name, func(b *testing.B) {
			for b.Loop() {
				c := newChurnOf(b, 3_000_000, t.opt, t.attr)
				t.make(c)
				edges, vertices := float64(c.g.Edges()), float64(len(c.keys))
				g := c.g
				*c = churn{}
				all := heap()
				g.keys, g.vkey = dictionary{}, nil
				graph := heap()
				density := float64(g.adj.n) / float64(len(g.adj.nbr))
				runtime.KeepAlive(g)
				g = nil
				none := heap()
				b.ReportMetric((graph-none)/edges, "B/edge")
				b.ReportMetric((all-graph)/vertices, "dictionary-B/vertex")
				b.ReportMetric(density, "density")
				b.ReportMetric(edges, "edges")
			}
		})
	}
}

// sizes is the capacity of what grows with the graph.
func (g *Graph) sizes() [4]int {
	return [4]int{len(g.adj.nbr), cap(g.adj.heads), cap(g.adj.edges), cap(g.order)}
}
