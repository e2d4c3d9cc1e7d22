package payments

import (
	"math/rand/v2"
	"strconv"

	"motifd/dyngraph"
)

const (
	// fanSize is the number of payments in a planted fan.
	fanSize = 5
	// minAccounts is the minimum number of accounts: plants need room.
	minAccounts = 64
	// meanSpacing is the mean number of events from one plant to the next.
	meanSpacing = 512
	// maxSpread is the most events from one payment of a plant to the next, were there no other plant.
	maxSpread = 32
)

// Epoch is the timestamp (ms) of event 0. Event n, the first being 1, has the timestamp Epoch+n.
const Epoch = 1_700_000_000_000

// kind is the label of a payment.
type kind uint8

const (
	transfer   kind = iota // account to account
	topUp                  // account to wallet
	withdrawal             // wallet to account
)

var labels = [...]string{"TRANSFER", "TOP_UP", "WITHDRAWAL"}

// payment is a payment: the identity of an edge. Ends are numbers of accounts, then of wallets.
type payment struct {
	from, to uint32
	kind     kind
}

// Event is one update of the stream.
type Event struct {
	Number uint64 // 1 for the first
	Update dyngraph.Update
	// Completes is the plant that this update completes, Breaks the completed plant that it breaks; nil if none.
	Completes, Breaks *Plant
}

// Options configure a Generator.
type Options struct {
	Seed uint64
	// Accounts is the number of accounts, at least 64 (the default); there are a quarter as many wallets.
	Accounts int
	// Amounts gives each payment an amount in euros, in its properties.
	Amounts bool
	// settle is the minimum number of events from a plant's completion to its end, so that a plant is never made and
	// broken inside one smaller batch. The default is 4096; tests set less.
	settle uint64
}

// ensureDefaults replaces zero values.
func (o *Options) ensureDefaults() {
	o.Accounts = max(o.Accounts, minAccounts)
	if o.settle == 0 {
		o.settle = 4096
	}
}

// Generator makes the stream. It is deterministic: its Options alone decide each event. It is not safe for concurrent
// use; the events may be handed to other goroutines.
type Generator struct {
	opt Options

	rng    *rand.Rand
	window int // background payments kept
	number uint64

	// The event that made each payment that is in the graph; 0 for those that are planned. Without pointers, the
	// collector does not look into it: the daemon runs in the same process.
	present    map[payment]uint64
	background queue[payment] // oldest first
	payments   []uint16       // by wallet: its payments, planned or present
	reserved   []uint16       // by wallet: those that belong to plants
	planned    schedule
	standing   queue[*plantState] // completed plants whose end is not planned, oldest first
	planting   int                // plants under way or completed and not broken
	nextPlant  uint64
}

// NewGenerator returns a generator of a new stream.
func NewGenerator(opt Options) *Generator {
	opt.ensureDefaults()
	accounts, wallets := opt.Accounts, opt.Accounts/4
	g := &Generator{
		opt: opt,
		rng: rand.New(rand.NewPCG(opt.Seed, 0x6d6f746966)),
		// An account sends half a transfer on average, a wallet has a quarter of a top-up and of a withdrawal: short
		// rings and fans happen by chance, but seldom.
		window:   accounts * 5 / 8,
		present:  make(map[payment]uint64, accounts),
		payments: make([]uint16, wallets),
		reserved: make([]uint16, wallets),
	}
	g.nextPlant = 1 + g.rng.Uint64N(meanSpacing)
	return g
}

// Next returns the next event.
func (g *Generator) Next() Event {
	g.number++
	if g.number >= g.nextPlant {
		g.nextPlant = g.number + 1 + g.rng.Uint64N(2*meanSpacing-1)
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
func (g *Generator) randomPay() payment {
	for {
		p := payment{from: g.account(), to: g.account()}
		switch g.rng.Uint32N(10) {
		case 0:
			p.kind, p.to = topUp, g.wallet()
		case 1:
			p.kind, p.from = withdrawal, g.wallet()
		}
		if g.free(p) {
			return p
		}
	}
}

func (g *Generator) account() uint32 { return g.rng.Uint32N(uint32(g.opt.Accounts)) }

// wallet draws a wallet that no plant uses. There are always some: plants are bounded by a fraction of the wallets.
func (g *Generator) wallet() uint32 {
	for {
		if w := g.rng.IntN(len(g.reserved)); g.reserved[w] == 0 {
			return uint32(g.opt.Accounts + w)
		}
	}
}

// free tells whether p can be inserted: it is no self-loop, and it is not there.
func (g *Generator) free(p payment) bool {
	_, taken := g.present[p]
	return p.from != p.to && !taken
}

// walletOf returns the wallet of a payment.
func (g *Generator) walletOf(p payment) (w int, ok bool) {
	w = max(int(p.from), int(p.to)) - g.opt.Accounts
	return w, w >= 0
}

// book adds n to the count of payments of p's wallet, if it has one.
func (g *Generator) book(p payment, n int) {
	if w, ok := g.walletOf(p); ok {
		g.payments[w] = uint16(int(g.payments[w]) + n)
	}
}

// id names a payment that is in the graph.
func (g *Generator) id(p payment) string { return "tx-" + strconv.FormatUint(g.present[p], 10) }

// name is the key of an account or a wallet.
func (g *Generator) name(v uint32) string {
	if int(v) < g.opt.Accounts {
		return "account-" + strconv.Itoa(int(v))
	}
	return "wallet-" + strconv.Itoa(int(v)-g.opt.Accounts)
}

func (g *Generator) insert(p payment) Event {
	return g.insertAmount(p, 10+int(g.number*2654435761%(1<<32)%990))
}

// insertAmount inserts a payment of the given amount.
func (g *Generator) insertAmount(p payment, euros int) Event {
	u := g.update(dyngraph.InsertEdge, p)
	if g.opt.Amounts {
		u.Attr.Props = []byte(`{"amount":` + strconv.Itoa(euros) + `,"currency":"EUR"}`)
	}
	u.FromLabel, u.ToLabel = g.vertexLabel(p.from), g.vertexLabel(p.to)
	return Event{Number: g.number, Update: u}
}

// remove deletes a payment that is in the graph.
func (g *Generator) remove(p payment) Event {
	e := Event{Number: g.number, Update: g.update(dyngraph.DeleteEdge, p)}
	delete(g.present, p)
	g.book(p, -1)
	return e
}

func (g *Generator) update(op dyngraph.Op, p payment) dyngraph.Update {
	return dyngraph.Update{
		Op: op, From: g.name(p.from), To: g.name(p.to), Label: labels[p.kind],
		Attr: dyngraph.Attr{ID: g.id(p), TS: Epoch + int64(g.number), HasTS: true},
	}
}

func (g *Generator) vertexLabel(v uint32) string {
	if int(v) < g.opt.Accounts {
		return "Account"
	}
	return "Wallet"
}
