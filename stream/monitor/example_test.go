package monitor_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/stream/monitor"
)

// payments makes one insertion of each pair of accounts.
func payments(pairs ...[2]string) []dyngraph.Update {
	var updates []dyngraph.Update
	for _, p := range pairs {
		updates = append(updates, dyngraph.Update{
			Op: dyngraph.InsertEdge, From: p[0], To: p[1], Label: "TRANSFER",
			FromLabel: "Account", ToLabel: "Account",
		})
	}
	return updates
}

// show prints a result.
var show = monitor.Each(func(d monitor.Delta) error {
	fmt.Println(d.Op(), d.Query, d.Key("a"), d.Key("b"))
	return nil
})

const ringPattern = "MATCH (a:Account)-[:TRANSFER]->(b:Account)-[:TRANSFER]->(c:Account)-[:TRANSFER]->(a)"

// open returns a Monitor with a query for rings of three.
func open(ctx context.Context) *monitor.Monitor {
	m, err := monitor.Open(monitor.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ring, err := m.Parse("ring", ringPattern)
	if err != nil {
		log.Fatal(err)
	}
	ring.Unit = matcher.Subgraphs
	if _, err := m.Add(ctx, ring, nil); err != nil {
		log.Fatal(err)
	}
	return m
}

// A ring appears with the payment that closes it.
func Example() {
	ctx := context.Background()
	m, err := monitor.Open(monitor.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	ring, err := m.Parse("ring",
		"MATCH (a:Account)-[:TRANSFER]->(b:Account)-[:TRANSFER]->(c:Account)-[:TRANSFER]->(a)")
	if err != nil {
		log.Fatal(err)
	}
	ring.Unit = matcher.Subgraphs // one result for each ring, not one for each account to begin with
	if _, err := m.Add(ctx, ring, nil); err != nil {
		log.Fatal(err)
	}
	for _, p := range [][2]string{{"acc-1", "acc-2"}, {"acc-2", "acc-3"}, {"acc-3", "acc-1"}} {
		update := dyngraph.Update{
			Op: dyngraph.InsertEdge, From: p[0], To: p[1], Label: "TRANSFER",
			FromLabel: "Account", ToLabel: "Account",
		}
		_, err := m.Apply(ctx, []dyngraph.Update{update}, monitor.Each(func(d monitor.Delta) error {
			fmt.Printf("batch %d: %s %s: %s, %s, %s\n", d.Batch, d.Op(), d.Query, d.Key("a"), d.Key("b"), d.Key("c"))
			fmt.Printf("closed by %s -> %s\n", d.Anchor.From, d.Anchor.To)
			return nil
		}))
		if err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// batch 4: + ring: acc-1, acc-2, acc-3
	// closed by acc-3 -> acc-1
}

// A deletion withdraws the matches that it breaks, under the IDs that they appeared with.
func ExampleMonitor_Apply() {
	ctx := context.Background()
	m := open(ctx)
	defer m.Close()
	open := map[string]monitor.Delta{} // the rings that are there, by ID
	follow := monitor.Each(func(d monitor.Delta) error {
		if d.Op() == "+" {
			open[d.ID] = d
		} else {
			fmt.Println("withdrawn:", open[d.ID].Key("a"), open[d.ID].Key("b"), open[d.ID].Key("c"))
			delete(open, d.ID)
		}
		return nil
	})
	updates := payments([2]string{"acc-1", "acc-2"}, [2]string{"acc-2", "acc-3"}, [2]string{"acc-3", "acc-1"})
	if _, err := m.Apply(ctx, updates, follow); err != nil {
		log.Fatal(err)
	}
	fmt.Println("open:", len(open))
	cancelled := dyngraph.Update{Op: dyngraph.DeleteEdge, From: "acc-2", To: "acc-3", Label: "TRANSFER"}
	sum, err := m.Apply(ctx, []dyngraph.Update{cancelled}, follow)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("open:", len(open), "deleted edges:", sum.NetDeleted)
	// Output:
	// open: 1
	// withdrawn: acc-1 acc-2 acc-3
	// open: 0 deleted edges: 1
}

// A refused update refuses its batch; the graph is as before.
func ExampleMonitor_Apply_refused() {
	ctx := context.Background()
	m := open(ctx)
	defer m.Close()
	updates := payments([2]string{"acc-1", "acc-2"}, [2]string{"acc-2", "acc-2"})
	_, err := m.Apply(ctx, updates, show)
	var refused *dyngraph.UpdateError
	fmt.Println(errors.As(err, &refused), refused.Reason)
	// Output:
	// true self_loop
}

// A query that emits counts tells numbers, which are not found one by one. Count asks for one at any time.
func ExampleMonitor_Count() {
	ctx := context.Background()
	m, err := monitor.Open(monitor.Options{Undirected: true})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	paths, err := m.Parse("paths", "MATCH (a)--(b)--(c)")
	if err != nil {
		log.Fatal(err)
	}
	paths.Emit = matcher.EmitCounts
	if _, err := m.Add(ctx, paths, nil); err != nil {
		log.Fatal(err)
	}
	var updates []dyngraph.Update
	for i := range 1000 {
		updates = append(updates, dyngraph.Update{Op: dyngraph.InsertEdge, From: "hub", To: fmt.Sprint("spoke-", i)})
	}
	_, err = m.Apply(ctx, updates, monitor.Each(func(d monitor.Delta) error {
		fmt.Println(d.Op(), d.Query, d.Count)
		return nil
	}))
	if err != nil {
		log.Fatal(err)
	}
	stars, err := m.Parse("stars", "MATCH (h)--(a), (h)--(b), (h)--(c), (h)--(d), (h)--(e), (h)--(f), (h)--(g)")
	if err != nil {
		log.Fatal(err)
	}
	n, err := m.Count(ctx, stars) // not registered
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stars.Name, n)
	// Output:
	// + paths 999000
	// stars 979174266622236720000
}

// A query that is added later begins with the matches that are there.
func ExampleMonitor_Add_backfill() {
	ctx := context.Background()
	m, err := monitor.Open(monitor.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	updates := payments([2]string{"acc-1", "acc-2"}, [2]string{"acc-2", "acc-3"}, [2]string{"acc-3", "acc-1"})
	if _, err := m.Apply(ctx, updates, nil); err != nil {
		log.Fatal(err)
	}
	ring, err := m.Parse("ring", ringPattern)
	if err != nil {
		log.Fatal(err)
	}
	ring.Unit, ring.Backfill = matcher.Subgraphs, matcher.BackfillFull
	_, err = m.Add(ctx, ring, monitor.Each(func(d monitor.Delta) error {
		fmt.Println(d.Op(), d.Query, d.Key("a"), d.Key("b"), d.Key("c"), "snapshot:", d.Snapshot)
		return nil
	}))
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// + ring acc-1 acc-2 acc-3 snapshot: true
}

// tally is a backend that counts the searches of another one.
type tally struct {
	matcher.Backend
	searches int
}

func (t *tally) Search(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request,
	emit func(matcher.Group) error, over matcher.Exceeded) ([]matcher.Result, error) {
	t.searches += len(reqs)
	return t.Backend.Search(ctx, sign, reqs, emit, over)
}

// Another backend takes the place of the default one. This one wraps it, and counts searches.
func ExampleOptions_backend() {
	ctx := context.Background()
	backend := &tally{Backend: cpu.New(cpu.Options{Threads: 1})}
	m, err := monitor.Open(monitor.Options{Backend: backend})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	edge, err := m.Parse("edge", "MATCH (a:Account)-[:TRANSFER]->(b:Account)")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := m.Add(ctx, edge, nil); err != nil {
		log.Fatal(err)
	}
	if _, err := m.Apply(ctx, payments([2]string{"acc-1", "acc-2"}), show); err != nil {
		log.Fatal(err)
	}
	fmt.Println("searches:", backend.searches)
	// Output:
	// + edge acc-1 acc-2
	// searches: 1
}
