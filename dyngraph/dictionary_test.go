package dyngraph

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestS7DictionaryAgainstMap plays dictionaries of small tables, and hashes that tell few keys apart, against a map.
func TestS7DictionaryAgainstMap(t *testing.T) {
	for seed := range uint64(600) {
		rnd := rand.New(rand.NewPCG(seed, 27))
		d := newDictionary()
		d.slots, d.deepest = 8<<rnd.IntN(3), uint8(rnd.IntN(6))
		// Of the hash only some bits differ: the first ones, the last ones, or a few in the middle.
		mask := []uint32{^uint32(0), 7 << 29, 0xf, 0xf << 24, 0, 0xff<<24 | 3}[rnd.IntN(6)]
		var hashes [300]uint32 // by the number in the key, and so by the seed
		for i := range hashes {
			hashes[i] = rnd.Uint32() & mask
		}
		hash := func(key string) uint32 {
			n, err := strconv.Atoi(key[1:])
			if err != nil {
				t.Fatal(err)
			}
			return hashes[n]
		}
		var keys []string // by vertex
		want := map[string]VertexID{}
		check := func(key string) {
			t.Helper()
			id, ok := want[key]
			if !ok {
				id = NoVertex
			}
			if got := d.find(hash(key), key, keys); got != id {
				t.Fatalf("seed %d: %s is vertex %d, want %d", seed, key, got, id)
			}
			// What likely finds has the same hash; it finds nothing only if there is nothing.
			switch got := d.likely(hash(key)); {
			case got == NoVertex && ok:
				t.Fatalf("seed %d: nothing is likely to be %s", seed, key)
			case got != NoVertex && (hash(keys[got]) != hash(key) || want[keys[got]] != got):
				t.Fatalf("seed %d: vertex %d, which is %s, is likely to be %s", seed, got, keys[got], key)
			}
		}
		grows := 2 + rnd.IntN(3) // of 4
		for range 50 + rnd.IntN(700) {
			key := fmt.Sprint("k", rnd.IntN(300))
			check(key)
			switch id, ok := want[key]; {
			case ok && rnd.IntN(4) >= grows:
				d.remove(hash(key), id)
				delete(want, key)
			case ok:
				d.remove(hash(key), id+1000) // is not there: nothing happens
			case rnd.IntN(4) < grows:
				id := VertexID(len(keys))
				keys = append(keys, key)
				d.insert(hash(key), id)
				want[key] = id
			}
			check(key)
		}
		if d.n != len(want) {
			t.Fatalf("seed %d: %d keys, want %d", seed, d.n, len(want))
		}
		for i := range 300 {
			check(fmt.Sprint("k", i))
		}
		checkTables(t, seed, &d)
	}
}

// checkTables holds what the tables of a dictionary are to each other.
func checkTables(t *testing.T, seed uint64, d *dictionary) {
	t.Helper()
	if len(d.tables) != 1<<d.depth {
		t.Fatalf("seed %d: %d tables are found by %d bits", seed, len(d.tables), d.depth)
	}
	n := map[*keyTable]int{}
	for _, x := range d.tables {
		n[x]++
	}
	total := 0
	for x, times := range n {
		used := 0
		for _, s := range x.slots {
			if s != 0 {
				used++
				if d.table(uint32(s>>32)) != x {
					t.Fatalf("seed %d: hash %x leads to another table", seed, s>>32)
				}
			}
		}
		if used != x.n || 4*used > 3*len(x.slots) || len(x.slots) != 1<<x.bits {
			t.Fatalf("seed %d: %d keys, counted as %d, in %d slots of %d bits", seed, used, x.n, len(x.slots), x.bits)
		}
		if x.depth > d.deepest || times != 1<<(d.depth-x.depth) {
			t.Fatalf("seed %d: a table of %d bits is there %d times among those of %d", seed, x.depth, times, d.depth)
		}
		total += used
	}
	if total != d.n {
		t.Fatalf("seed %d: %d keys, counted as %d", seed, total, d.n)
	}
}

// TestS7DictionaryOfManyKeys fills a dictionary with tables as they are in use, and empties it.
func TestS7DictionaryOfManyKeys(t *testing.T) {
	d := newDictionary()
	keys := make([]string, 60_000)
	for i := range keys {
		keys[i] = fmt.Sprint("account-", i)
		d.insert(d.hash(keys[i]), VertexID(i))
	}
	checkTables(t, 0, &d)
	if d.depth < 2 {
		t.Fatalf("%d keys were never parted", len(keys))
	}
	for i, key := range keys {
		if id := d.find(d.hash(key), key, keys); id != VertexID(i) {
			t.Fatalf("%s is vertex %d, not %d", key, id, i)
		}
		if i%3 > 0 {
			d.remove(d.hash(key), VertexID(i))
		}
	}
	for i, key := range keys {
		want := NoVertex
		if i%3 == 0 {
			want = VertexID(i)
		}
		if id := d.find(d.hash(key), key, keys); id != want {
			t.Fatalf("%s is vertex %d, not %d", key, id, want)
		}
	}
	checkTables(t, 0, &d)
}

// TestS3AcceptTellsKeysOfOneHashApart accepts updates of two keys whose hashes are the same, when one of them is a
// vertex and when both are.
func TestS3AcceptTellsKeysOfOneHashApart(t *testing.T) {
	g := NewGraph(Options{Directed: true})
	// Of a few hundred thousand keys some have the same 32 bits; which, is another matter in each run.
	var x, y string
	for i, seen := 0, map[uint32]string{}; y == ""; i++ {
		key := fmt.Sprint("k", i)
		h := g.keys.hash(key)
		if x = seen[h]; x != "" {
			y = key
		}
		seen[h] = key
	}
	check := func(key string) {
		t.Helper()
		want, ok := g.Lookup(key)
		if !ok {
			want = NoVertex
		}
		u, _ := g.Accept([]Message{{[]Update{ins("other", key, "T"), ins(key, "another", "T")}}})
		if len(u) != 2 || g.resolved[0].toID != want || g.resolved[1].fromID != want {
			t.Fatalf("%s of %s and %s is resolved as %+v, want %d", key, x, y, g.resolved, want)
		}
	}
	for i, key := range []string{x, y} {
		check(x)
		check(y)
		stage(t, g, Update{Op: InsertVertex, Key: key})
		g.Commit()
		if id, ok := g.Lookup(key); !ok || int(id) != i {
			t.Fatalf("%s is vertex %d", key, id)
		}
	}
	check(x)
	check(y)
	stage(t, g, Update{Op: DeleteVertex, Key: x})
	g.Commit()
	check(x)
	check(y)
}

// TestS3AcceptReadsAheadAcrossMessages accepts messages of all lengths, many of which are refused somewhere, at once
// and one by one, each a batch of its own: the verdicts are the same, and what was resolved for Stage is what a
// look-up finds.
func TestS3AcceptReadsAheadAcrossMessages(t *testing.T) {
	refused := 0
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 28))
		apply := func(g *Graph, updates []Update) {
			if _, err := g.Stage(updates); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			g.Commit()
		}
		a, b := NewGraph(Options{Directed: true}), NewGraph(Options{Directed: true})
		key := func() string { return fmt.Sprint("k", rnd.IntN(150)) }
		label := func() string { return []string{"", "", "", "A", "B"}[rnd.IntN(5)] }
		for range 4 {
			var msgs []Message
			for range 1 + rnd.IntN(30) {
				var m Message
				for range rnd.IntN(1 + rnd.IntN(3*ahead)) {
					u := Update{Op: InsertEdge, From: key(), To: key(), Label: "T"}
					switch rnd.IntN(10) {
					case 0:
						u.Op = DeleteEdge
					case 1:
						u = Update{Op: DeleteVertex, Key: key()}
					case 2:
						u = Update{Op: InsertVertex, Key: key(), Label: label()}
					}
					if u.From == u.To && u.From != "" && rnd.IntN(8) > 0 {
						u.To += "x"
					}
					m.Updates = append(m.Updates, u)
				}
				if len(m.Updates) > 0 && rnd.IntN(6) == 0 {
					m.Updates[rnd.IntN(len(m.Updates))].Op = 77
				}
				msgs = append(msgs, m)
			}
			accepted, rejects := a.Accept(msgs)
			for i := range accepted {
				want := unresolved(&accepted[i])
				if id, ok := a.Lookup(want.from); ok {
					want.fromID = id
				}
				if id, ok := a.Lookup(want.to); ok {
					want.toID = id
				}
				if a.resolved[i] != want {
					t.Fatalf("seed %d: update %d is resolved as %+v, want %+v", seed, i, a.resolved[i], want)
				}
			}
			var one []Update
			for i, m := range msgs {
				took, no := b.Accept([]Message{m})
				apply(b, took)
				one = append(one, took...)
				if len(no) == 0 {
					continue
				}
				refused++
				if len(rejects) == 0 || rejects[0].Message != i || rejects[0].Update != no[0].Update ||
					rejects[0].Err.Error() != no[0].Err.Error() {
					t.Fatalf(
						"seed %d: message %d is refused at %d for %v, but the next refusal is %v",
						seed,
						i,
						no[0].Update,
						no[0].Err,
						rejects,
					)
				}
				rejects = rejects[1:]
			}
			if len(rejects) > 0 || !slices.EqualFunc(accepted, one, func(x, y Update) bool {
				return x.Op == y.Op && x.Key == y.Key && x.From == y.From && x.To == y.To
			}) {
				t.Fatalf("seed %d: %d updates were accepted, want %d; more refusals: %v", seed, len(accepted), len(one),
					rejects)
			}
			apply(a, accepted)
			if x, y := keyLabels(a), keyLabels(b); !maps.Equal(x, y) {
				t.Fatalf("seed %d: vertices %v, want %v", seed, x, y)
			}
		}
	}
	if refused < 1000 {
		t.Fatalf("only %d messages were refused", refused)
	}
}

// keyLabels is the graph's keys and labels, each as it is looked up.
func keyLabels(g *Graph) map[string]string {
	m := map[string]string{}
	v := g.View(New)
	for id := range v.VerticesSeq() {
		key := strings.Clone(v.Key(id))
		if at, ok := g.Lookup(key); !ok || at != id {
			panic(fmt.Sprintf("%s is vertex %d, and found as %d", key, id, at))
		}
		m[key] = v.LabelName(v.Label(id))
	}
	return m
}
