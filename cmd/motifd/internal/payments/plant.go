package payments

import "slices"

// Plant is a planted structure. It is immutable once an event carries it.
type Plant struct {
	Query    string   // the name of the query that finds it: ring3 to ring6, fan-in or fan-out
	Accounts []string // in pattern order: around the ring; or the wallet, then the accounts
	Edges    []Edge   // in pattern order
	// Completed is the number of the event that completed it.
	Completed uint64
}

// Edge is a payment of a plant.
type Edge struct {
	From, To, Label, ID string
}

// Key is the Key of the match that the plant is.
func (p *Plant) Key() string { return Key(p.Query, p.Accounts) }

// plantState is a plant and what becomes of it.
type plantState struct {
	plant *Plant // nil until completed
	query string
	ends  []uint32
	pays  []payment
	left  int // payments not there
}

// amount is the amount of one of the plant's payments, in euros. Around a ring each account keeps a hundredth.
func (l *plantState) amount(p payment) int {
	whole := 1000 + int(l.ends[0])*7919%9000
	if p.kind != transfer {
		return whole / fanSize
	}
	return whole - whole*slices.Index(l.pays, p)/100
}

// maxPlants bounds the plants at a time, so that they are a small part of the graph and leave wallets free.
func (g *Generator) maxPlants() int { return max(2, g.opt.Accounts/64) }

// plant plans a ring or a fan, unless there are as many as there may be; then the oldest, if it is old enough, goes.
func (g *Generator) plant() {
	if g.planting >= g.maxPlants() {
		if g.standing.len() > 0 && g.standing.front().plant.Completed+g.opt.settle <= g.number {
			g.end(g.standing.pop(), g.number)
		}
		return
	}
	l := g.newPlant()
	g.planting++
	l.left = len(l.pays)
	due := g.number
	for i, at := range g.rng.Perm(len(l.pays)) {
		p := l.pays[at]
		if i > 0 {
			due += 1 + g.rng.Uint64N(maxSpread)
		}
		g.present[p] = 0 // taken, and named when it is made
		g.book(p, 1)
		g.reserve(p, 1)
		g.planned.add(step{due: due, pay: p, plant: l})
	}
}

// newPlant draws the accounts of a plant, such that none of its payments is there.
func (g *Generator) newPlant() *plantState {
	for {
		l := &plantState{}
		switch n := g.rng.IntN(6); n {
		case 4, 5:
			w := g.wallet()
			if g.payments[int(w)-g.opt.Accounts] > 0 {
				continue // with others' payments there would be more fans than the planted one
			}
			l.ends = append([]uint32{w}, distinct(fanSize, g.account)...)
			l.query = fanQueries[n-4]
			l.add([...]kind{topUp, withdrawal}[n-4], fan(fanSize, n == 4))
		default:
			l.ends = distinct(3+n, g.account)
			l.query = RingQuery(3 + n)
			l.add(transfer, cycle(3+n))
		}
		if !slices.ContainsFunc(l.pays, func(p payment) bool { return !g.free(p) }) {
			return l
		}
	}
}

// add adds the payments of a structure.
func (l *plantState) add(k kind, links []link) {
	for _, x := range links {
		l.pays = append(l.pays, payment{from: l.ends[x.from], to: l.ends[x.to], kind: k})
	}
}

// distinct draws n different accounts.
func distinct(n int, account func() uint32) []uint32 {
	var out []uint32
	for len(out) < n {
		if a := account(); !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// reserve adds n to the count of planted payments of p's wallet, if it has one.
func (g *Generator) reserve(p payment, n int) {
	if w, ok := g.walletOf(p); ok {
		g.reserved[w] = uint16(int(g.reserved[w]) + n)
	}
}

// follow does a planned step: it makes or deletes a payment of a plant.
func (g *Generator) follow(s step) Event {
	l := s.plant
	if !s.remove {
		g.present[s.pay] = g.number
		e := g.insertAmount(s.pay, l.amount(s.pay))
		if l.left--; l.left == 0 {
			l.plant = g.completed(l)
			e.Completes = l.plant
			if g.rng.IntN(2) == 0 {
				g.end(l, g.number+g.opt.settle+g.rng.Uint64N(2*g.opt.settle+1))
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
func (g *Generator) completed(l *plantState) *Plant {
	p := &Plant{Query: l.query, Completed: g.number}
	for _, v := range l.ends {
		p.Accounts = append(p.Accounts, g.name(v))
	}
	for _, pay := range l.pays {
		p.Edges = append(p.Edges, Edge{g.name(pay.from), g.name(pay.to), labels[pay.kind], g.id(pay)})
	}
	return p
}

// end plans the deletion of a plant's payments: one of them is reversed at event due and breaks it, the others
// follow as old payments do, one window later.
func (g *Generator) end(l *plantState, due uint64) {
	for i, at := range g.rng.Perm(len(l.pays)) {
		if i == 1 {
			due += 2 * uint64(g.window)
		}
		g.planned.add(step{due: due, pay: l.pays[at], plant: l, remove: true})
	}
}
