package dyngraph

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"

	"motifd/dyngraph/property"
)

const benchVertices = 300_000

// benchGraph has 3 million random directed edges with one label.
func benchGraph(b *testing.B, edges int) *Graph {
	b.Helper()
	rnd := rand.New(rand.NewPCG(3, 3))
	l := NewLoader(Options{Directed: true, Background: beside})
	if err := l.Label("T"); err != nil {
		b.Fatal(err)
	}
	for id := range benchVertices {
		if err := l.Vertex(VertexRecord{ID: VertexID(id), Key: "account-" + strconv.Itoa(id)}); err != nil {
			b.Fatal(err)
		}
	}
	per := edges / benchVertices
	for id := range benchVertices {
		next := VertexID(0)
		for range per {
			next += 1 + VertexID(rnd.IntN(2*benchVertices/per-2))
			if next == VertexID(id) {
				next++
			}
			if next >= benchVertices {
				break
			}
			if err := l.Edge(EdgeRecord{From: VertexID(id), Label: 1, To: next}); err != nil {
				b.Fatal(err)
			}
		}
	}
	g, err := l.Graph()
	if err != nil {
		b.Fatal(err)
	}
	return g
}

// benchBatches are random insertions and, from the batch after, their deletions: the graph keeps its size.
func benchBatches(size, n int) [][]Update {
	rnd := rand.New(rand.NewPCG(5, 5))
	key := func() string { return "account-" + strconv.Itoa(rnd.IntN(benchVertices)) }
	r := make([][]Update, n)
	for i := range r {
		for j := range size {
			if j%2 == 1 && i > 0 {
				u := r[i-1][j-1]
				u.Op = DeleteEdge
				r[i] = append(r[i], u)
				continue
			}
			u := Update{Op: InsertEdge, From: key(), To: key(), Label: "T"}
			if u.From == u.To {
				u.To += "x"
			}
			r[i] = append(r[i], u)
		}
	}
	return r
}

// BenchmarkStage is Stage and Commit of random updates to a graph of about 3 million edges.
func BenchmarkStage(b *testing.B) {
	g := benchGraph(b, 3_000_000)
	for _, size := range []int{1, 10, 100, 1000, 10000, 100000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			batches := benchBatches(size, max(8, 200_000/size))
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; b.Loop(); i++ {
				if _, err := g.Stage(batches[i%len(batches)]); err != nil {
					b.Fatal(err)
				}
				g.Commit()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/update")
		})
	}
}

// BenchmarkGrow builds a graph from nothing by batches of 1,000, where every second edge brings a new vertex: its
// entries go to the end of the array.
func BenchmarkGrow(b *testing.B) {
	const size, total = 1000, 500_000
	rnd := rand.New(rand.NewPCG(6, 6))
	for b.Loop() {
		g := NewGraph(Options{Directed: true, Background: beside})
		n := 2
		for range total / size {
			batch := make([]Update, size)
			for j := range batch {
				from, to := rnd.IntN(n), n
				if j%2 == 0 {
					n++
				} else {
					to = (from + 1 + rnd.IntN(n-1)) % n
				}
				batch[j] = Update{Op: InsertEdge, From: strconv.Itoa(from), To: strconv.Itoa(to), Label: "T"}
			}
			if _, err := g.Stage(batch); err != nil {
				b.Fatal(err)
			}
			g.Commit()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*total), "ns/update")
}

// BenchmarkReplace stages batches of 1,000 insertions of edges that are there, with another declared value or the same.
func BenchmarkReplace(b *testing.B) {
	const edges, size = 100_000, 1000
	amount := property.Type{Kind: property.Int64}
	schema := &property.Schema{Edges: property.Declarations{"T": {"amount": amount, "fee": amount, "ts": {
		Kind: property.Timestamp}}}}
	for _, same := range []bool{false, true} {
		b.Run(fmt.Sprint("same=", same), func(b *testing.B) {
			g := NewGraph(Options{Directed: true, Schema: schema})
			var us []Update
			for i := range edges {
				us = append(us, Update{Op: InsertEdge, From: fmt.Sprint("k", i), To: fmt.Sprint("k", i+1), Label: "T",
					Attr: Attr{Values: []property.Value{property.Int(0), property.Int(1)}}})
			}
			apply := func(us []Update) {
				accepted, _ := g.Accept([]Message{{Updates: us}})
				if _, err := g.Stage(accepted); err != nil {
					b.Fatal(err)
				}
				g.Commit()
			}
			apply(us)
			rng := rand.New(rand.NewPCG(1, 15))
			batch := make([]Update, size)
			b.ReportAllocs()
			b.ResetTimer()
			for n := range b.N {
				for i := range batch {
					batch[i] = us[rng.IntN(edges)]
					if !same {
						batch[i].Attr.Values = []property.Value{property.Int(int64(n + 1)), property.Int(1)}
					}
				}
				apply(batch)
			}
		})
	}
}

// BenchmarkAccept judges messages of one update.
func BenchmarkAccept(b *testing.B) {
	g := benchGraph(b, 3_000_000)
	const size = 1000
	var msgs [][]Message
	for _, batch := range benchBatches(size, 200) {
		m := make([]Message, size)
		for i := range batch {
			m[i].Updates = batch[i : i+1]
		}
		msgs = append(msgs, m)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		g.Accept(msgs[i%len(msgs)])
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/update")
}

// BenchmarkArray is the array alone: insertion and removal of random entries among 6 million.
func BenchmarkArray(b *testing.B) {
	g := benchGraph(b, 3_000_000)
	for _, size := range []int{1, 100, 10000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			rnd := rand.New(rand.NewPCG(7, 7))
			var sets [][]slot
			var x sorter
			for range max(8, 200_000/size) {
				have := map[slot]bool{}
				for len(have) < 2*size {
					s := slot{row: rowKey(VertexID(rnd.IntN(benchVertices)), Out, 1),
						nbr: VertexID(rnd.IntN(benchVertices))}
					if _, ok := g.adj.find(s.row, s.nbr); !ok && s.nbr != s.vertex() {
						s.ent = g.adj.newEdge(s)
						have[s] = true
					}
				}
				var set []slot
				for s := range have {
					set = append(set, s)
				}
				sets = append(sets, set)
			}
			b.ResetTimer()
			for i := 0; b.Loop(); i++ {
				set := sets[i%len(sets)]
				x.sort(set, benchVertices)
				g.adj.insert(set, nil)
				g.adj.remove(set, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/edge")
		})
	}
}

// BenchmarkLoad is the Loader, with ascending edges.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		g := benchGraph(b, 3_000_000)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(g.Edges()), "B/edge")
		b.ReportMetric(float64(g.Edges()), "edges")
		runtime.KeepAlive(g)
	}
}

// BenchmarkRange reads every neighbour of random vertices.
func BenchmarkRange(b *testing.B) {
	g := benchGraph(b, 3_000_000)
	rnd := rand.New(rand.NewPCG(9, 9))
	sum, n := VertexID(0), 0
	for b.Loop() {
		r := g.Range(VertexID(rnd.IntN(benchVertices)), Out, 1)
		for nbr, _, ok := r.Next(); ok; nbr, _, ok = r.Next() {
			for _, x := range nbr {
				sum += x
			}
			n += len(nbr)
		}
	}
	_ = sum
	b.ReportMetric(float64(n)/float64(b.N), "neighbours/op")
}

// BenchmarkFind looks for random edges.
func BenchmarkFind(b *testing.B) {
	g := benchGraph(b, 3_000_000)
	rnd := rand.New(rand.NewPCG(9, 9))
	for b.Loop() {
		r := g.Range(VertexID(rnd.IntN(benchVertices)), Out, 1)
		r.Find(VertexID(rnd.IntN(benchVertices)))
	}
}
