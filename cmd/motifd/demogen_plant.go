package main

import (
	"fmt"
	"slices"
	"strings"
)

// demoPlant is a planted structure. It is immutable once an event carries it.
type demoPlant struct {
	Query    string     // the name of the query that finds it: ring3 to ring6, fan-in or fan-out
	Accounts []string   // in pattern order: around the ring; or the wallet, then the accounts
	Edges    []demoEdge // in pattern order
	// Completed is the number of the event that completed it.
	Completed uint64
}

// demoEdge is a payment of a plant.
type demoEdge struct {
	From, To, Label, ID string
}

// key names the structure: two matches of a query are the same place exactly if their keys are.
func (p *demoPlant) key() string { return demoKey(p.Query, p.Accounts) }

// demoKey names the place of a match of one of the demo's queries, given the keys of its vertices in pattern order. The
// turns of a ring, and the orders of a fan's accounts, have one name.
func demoKey(query string, vertices []string) string {
	v := slices.Clone(vertices)
	if strings.HasPrefix(query, "ring") {
		first := slices.Index(v, slices.Min(v))
		v = append(v[first:], v[:first]...)
	} else {
		slices.Sort(v[1:])
	}
	return query + " " + strings.Join(v, " ")
}

// demoLife is a plant and what becomes of it.
type demoLife struct {
	plant *demoPlant // nil until completed
	query string
	ends  []uint32
	pays  []demoPay
	left  int // payments not there
}

// amount is the amount of one of the plant's payments, in euros. Around a ring each account keeps a hundredth.
func (l *demoLife) amount(p demoPay) int {
	whole := 1000 + int(l.ends[0])*7919%9000
	if p.kind != demoTransfer {
		return whole / demoFan
	}
	return whole - whole*slices.Index(l.pays, p)/100
}

// maxPlants bounds the plants at a time, so that they are a small part of the graph and leave wallets free.
func (g *demoGen) maxPlants() int { return max(2, g.accounts/64) }

// plant plans a ring or a fan, unless there are as many as there may be; then the oldest, if it is old enough, goes.
func (g *demoGen) plant() {
	if g.planting >= g.maxPlants() {
		if g.standing.len() > 0 && g.standing.front().plant.Completed+g.settle <= g.number {
			g.end(g.standing.pop(), g.number)
		}
		return
	}
	l := g.newLife()
	g.planting++
	l.left = len(l.pays)
	due := g.number
	for i, at := range g.rng.Perm(len(l.pays)) {
		p := l.pays[at]
		if i > 0 {
			due += 1 + g.rng.Uint64N(demoSpread)
		}
		g.present[p] = 0 // taken, and named when it is made
		g.book(p, 1)
		g.reserve(p, 1)
		g.planned.add(demoStep{due: due, pay: p, life: l})
	}
}

// newLife draws the accounts of a plant, such that none of its payments is there.
func (g *demoGen) newLife() *demoLife {
	for {
		l := &demoLife{}
		switch n := g.rng.IntN(6); n {
		case 4, 5:
			w := g.wallet()
			if g.payments[int(w)-g.accounts] > 0 {
				continue // with others' payments there would be more fans than the planted one
			}
			l.ends = append([]uint32{w}, g.distinct(demoFan)...)
			l.query = demoFans[n-4]
			for _, a := range l.ends[1:] {
				p := demoPay{from: a, to: w, kind: demoTopUp}
				if n == 5 {
					p = demoPay{from: w, to: a, kind: demoWithdrawal}
				}
				l.pays = append(l.pays, p)
			}
		default:
			l.ends = g.distinct(3 + n)
			l.query = demoRing(3 + n)
			for i, a := range l.ends {
				l.pays = append(l.pays, demoPay{from: a, to: l.ends[(i+1)%len(l.ends)], kind: demoTransfer})
			}
		}
		if !slices.ContainsFunc(l.pays, func(p demoPay) bool { return !g.free(p) }) {
			return l
		}
	}
}

// distinct draws n accounts.
func (g *demoGen) distinct(n int) []uint32 {
	var out []uint32
	for len(out) < n {
		if a := g.account(); !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// reserve adds n to the count of planted payments of p's wallet, if it has one.
func (g *demoGen) reserve(p demoPay, n int) {
	if w, ok := g.walletOf(p); ok {
		g.reserved[w] = uint16(int(g.reserved[w]) + n)
	}
}

// follow does a planned step: it makes or deletes a payment of a plant.
func (g *demoGen) follow(s demoStep) demoEvent {
	l := s.life
	if !s.remove {
		g.present[s.pay] = g.number
		e := g.insertAmount(s.pay, l.amount(s.pay))
		if l.left--; l.left == 0 {
			l.plant = g.completed(l)
			e.Completes = l.plant
			if g.rng.IntN(2) == 0 {
				g.end(l, g.number+g.settle+g.rng.Uint64N(2*g.settle+1))
			} else {
				g.standing.push(l) // until there are too many plants
			}
		}
		return e
	}
	e := g.remove(s.pay)
	g.reserve(s.pay, -1)
	if l.left == 0 {
		e.Breaks = l.plant
		g.planting--
	}
	l.left++
	return e
}

// completed describes a plant whose last payment has just been made.
func (g *demoGen) completed(l *demoLife) *demoPlant {
	p := &demoPlant{Query: l.query, Completed: g.number}
	for _, v := range l.ends {
		p.Accounts = append(p.Accounts, g.name(v))
	}
	for _, pay := range l.pays {
		p.Edges = append(p.Edges, demoEdge{g.name(pay.from), g.name(pay.to), demoLabels[pay.kind], g.id(pay)})
	}
	return p
}

// end plans the deletion of a plant's payments: one of them is reversed at event due and breaks it, the others
// follow as old payments do, one window later.
func (g *demoGen) end(l *demoLife, due uint64) {
	for i, at := range g.rng.Perm(len(l.pays)) {
		if i == 1 {
			due += 2 * uint64(g.window)
		}
		g.planned.add(demoStep{due: due, pay: l.pays[at], life: l, remove: true})
	}
}

// demoQuery is a query of the demo. Its matches are reported once each (unit: subgraphs).
type demoQuery struct {
	Name, Text string // the text is Cypher
}

// demoFans are the names of the fan queries.
var demoFans = [...]string{"fan-in", "fan-out"}

func demoRing(n int) string { return fmt.Sprintf("ring%d", n) }

// demoQueries returns the queries that find what is planted.
func demoQueries() []demoQuery {
	var out []demoQuery
	for n := 3; n <= 6; n++ {
		b := new(strings.Builder)
		fmt.Fprint(b, "MATCH (a1:Account)")
		for i := 2; i <= n; i++ {
			fmt.Fprintf(b, "-[:TRANSFER]->(a%d:Account)", i)
		}
		fmt.Fprint(b, "-[:TRANSFER]->(a1)")
		out = append(out, demoQuery{demoRing(n), b.String()})
	}
	for i, arrow := range []string{"<-[:TOP_UP]-", "-[:WITHDRAWAL]->"} {
		paths := make([]string, demoFan)
		for k := range paths {
			wallet := "(w)"
			if k == 0 {
				wallet = "(w:Wallet)"
			}
			paths[k] = fmt.Sprintf("%s%s(a%d:Account)", wallet, arrow, k+1)
		}
		out = append(out, demoQuery{demoFans[i], "MATCH " + strings.Join(paths, ",\n      ")})
	}
	return out
}
