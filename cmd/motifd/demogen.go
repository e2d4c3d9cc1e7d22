package main

import (
	"math/rand/v2"
	"strconv"

	"motifd/dyngraph"
)

// The demo's payments. Accounts pay one another (TRANSFER), top up wallets (TOP_UP) and are paid from wallets
// (WITHDRAWAL). Among a background of random payments the generator plants what a bank looks for: rings of transfers,
// many accounts that top up one wallet (fan-in), and a wallet that is emptied to many accounts (fan-out). The
// background forgets: a payment is deleted when enough later ones have been made, so that the graph stays of one size
// for ever.
//
// Labels keep fans from exploding: n top-ups of one wallet hold n choose demoFan fan-ins, but by chance a wallet has
// few at a time. A wallet that a plant uses gets no background payments until the plant's own are gone.

const (
	// demoFan is the number of payments in a planted fan.
	demoFan = 5
	// demoMinAccounts is the least number of accounts; fewer are raised to it, since plants need room.
	demoMinAccounts = 64
	// demoSpacing is the mean number of events from one plant to the next.
	demoSpacing = 512
	// demoSpread is the most events from one payment of a plant to the next, were there no other plant.
	demoSpread = 32
	// demoEpoch is the timestamp before the first event; every event is one millisecond later.
	demoEpoch = 1_700_000_000_000
)

// demoKind is the label of a payment.
type demoKind uint8

const (
	demoTransfer   demoKind = iota // account to account
	demoTopUp                      // account to wallet
	demoWithdrawal                 // wallet to account
)

var demoLabels = [...]string{"TRANSFER", "TOP_UP", "WITHDRAWAL"}

// demoPay is a payment: the identity of an edge. Ends are numbers of accounts, then of wallets.
type demoPay struct {
	from, to uint32
	kind     demoKind
}

// demoEvent is one update of the stream.
type demoEvent struct {
	Number uint64 // 1 for the first
	Update dyngraph.Update
	// Completes is the plant that this update completes, Breaks the completed one that it breaks; or nil.
	Completes, Breaks *demoPlant
}

// demoGen makes the stream. It is deterministic: the seed, the number of accounts and settle decide on every event. It
// is not safe for concurrent use; the events may be handed to other goroutines.
type demoGen struct {
	// settle is the least number of events from a plant's completion to its end, so that a plant is never made and
	// broken inside one smaller batch. It may be set before the first event.
	settle uint64
	// amounts gives each payment an amount, in its properties. It may be set before the first event.
	amounts bool

	rng      *rand.Rand
	accounts int
	window   int // background payments kept
	number   uint64

	// The event that made each payment that is in the graph; 0 for those that are planned. Without pointers, the
	// collector does not look into it: the daemon runs in the same process.
	present    map[demoPay]uint64
	background demoQueue[demoPay] // oldest first
	payments   []uint16           // by wallet: its payments, planned or present
	reserved   []uint16           // by wallet: those that belong to plants
	planned    demoSchedule
	standing   demoQueue[*demoLife] // completed plants whose end is not planned, oldest first
	planting   int                  // plants under way or completed and not broken
	nextPlant  uint64
}

// newDemoGen returns a generator of payments among at least demoMinAccounts accounts and a quarter as many wallets.
func newDemoGen(seed uint64, accounts int) *demoGen {
	accounts = max(accounts, demoMinAccounts)
	wallets := accounts / 4
	g := &demoGen{
		settle:   4096,
		rng:      rand.New(rand.NewPCG(seed, 0x6d6f746966)),
		accounts: accounts,
		// An account sends half a transfer on average, a wallet has a quarter of a top-up and of a withdrawal: short
		// rings and fans happen by chance, but seldom.
		window:   accounts * 5 / 8,
		present:  make(map[demoPay]uint64, accounts),
		payments: make([]uint16, wallets),
		reserved: make([]uint16, wallets),
	}
	g.nextPlant = 1 + g.rng.Uint64N(demoSpacing)
	return g
}

// next returns the next event.
func (g *demoGen) next() demoEvent {
	g.number++
	if g.number >= g.nextPlant {
		g.nextPlant = g.number + 1 + g.rng.Uint64N(2*demoSpacing-1)
		g.plant()
	}
	if s, ok := g.planned.due(g.number); ok {
		return g.follow(s)
	}
	if g.background.len() > g.window {
		return g.remove(g.background.pop())
	}
	p := g.randomPay()
	g.background.push(p)
	g.book(p, 1)
	g.present[p] = g.number
	return g.insert(p)
}

// randomPay draws a payment of the background: four transfers in five, as many top-ups as withdrawals.
func (g *demoGen) randomPay() demoPay {
	for {
		p := demoPay{from: g.account(), to: g.account()}
		switch g.rng.Uint32N(10) {
		case 0:
			p.kind, p.to = demoTopUp, g.wallet()
		case 1:
			p.kind, p.from = demoWithdrawal, g.wallet()
		}
		if g.free(p) {
			return p
		}
	}
}

func (g *demoGen) account() uint32 { return g.rng.Uint32N(uint32(g.accounts)) }

// wallet draws a wallet that no plant uses. There are always some: plants are bounded by a fraction of the wallets.
func (g *demoGen) wallet() uint32 {
	for {
		if w := g.rng.IntN(len(g.reserved)); g.reserved[w] == 0 {
			return uint32(g.accounts + w)
		}
	}
}

// free tells whether p can be inserted: it is no self-loop, and it is not there.
func (g *demoGen) free(p demoPay) bool {
	_, taken := g.present[p]
	return p.from != p.to && !taken
}

// walletOf returns the wallet of a payment.
func (g *demoGen) walletOf(p demoPay) (w int, ok bool) {
	w = max(int(p.from), int(p.to)) - g.accounts
	return w, w >= 0
}

// book adds n to the count of payments of p's wallet, if it has one.
func (g *demoGen) book(p demoPay, n int) {
	if w, ok := g.walletOf(p); ok {
		g.payments[w] = uint16(int(g.payments[w]) + n)
	}
}

// id names a payment that is in the graph.
func (g *demoGen) id(p demoPay) string { return "tx-" + strconv.FormatUint(g.present[p], 10) }

// name is the key of an account or a wallet.
func (g *demoGen) name(v uint32) string {
	if int(v) < g.accounts {
		return "account-" + strconv.Itoa(int(v))
	}
	return "wallet-" + strconv.Itoa(int(v)-g.accounts)
}

func (g *demoGen) insert(p demoPay) demoEvent {
	return g.insertAmount(p, 10+int(g.number*2654435761%(1<<32)%990))
}

// insertAmount inserts a payment of the given amount.
func (g *demoGen) insertAmount(p demoPay, euros int) demoEvent {
	u := g.update(dyngraph.InsertEdge, p)
	if g.amounts {
		u.Attr.Props = []byte(`{"amount":` + strconv.Itoa(euros) + `,"currency":"EUR"}`)
	}
	u.FromLabel, u.ToLabel = g.vertexLabel(p.from), g.vertexLabel(p.to)
	return demoEvent{Number: g.number, Update: u}
}

// remove deletes a payment that is in the graph.
func (g *demoGen) remove(p demoPay) demoEvent {
	e := demoEvent{Number: g.number, Update: g.update(dyngraph.DeleteEdge, p)}
	delete(g.present, p)
	g.book(p, -1)
	return e
}

func (g *demoGen) update(op dyngraph.Op, p demoPay) dyngraph.Update {
	return dyngraph.Update{
		Op: op, From: g.name(p.from), To: g.name(p.to), Label: demoLabels[p.kind],
		Attr: dyngraph.Attr{ID: g.id(p), TS: demoEpoch + int64(g.number), HasTS: true},
	}
}

func (g *demoGen) vertexLabel(v uint32) string {
	if int(v) < g.accounts {
		return "Account"
	}
	return "Wallet"
}
