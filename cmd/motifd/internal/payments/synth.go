package payments

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"motifd/dyngraph"
)

const (
	hour = 3_600_000 // in ms
	// Within is the longest time (ms) that the payments of a match of SynthQueries span: 72 hours.
	Within = 72 * hour
	// minSpan leaves room for the slowest case.
	minSpan = 7 * 24 * hour
)

// SynthOptions configure a Synth.
type SynthOptions struct {
	Seed uint64
	// Accounts is the number of accounts, at least 64.
	Accounts int
	// Payments is the number of payments, those of cases not counted.
	Payments int
	// Cases is the number of planted cases.
	Cases int
	// Span is the time (ms) of the stream, at least seven days.
	Span int64
}

// ensureDefaults raises values that are too small.
func (o *SynthOptions) ensureDefaults() {
	o.Accounts = max(o.Accounts, minAccounts)
	o.Span = max(o.Span, minSpan)
}

// Payment is a payment of a Case.
type Payment struct {
	ID     string      `json:"id"`
	From   string      `json:"from"`
	To     string      `json:"to"`
	TS     int64       `json:"ts"`
	Amount json.Number `json:"amount"`
}

// Case is a planted case of money laundering.
type Case struct {
	Number   int      `json:"case"`
	Typology Typology `json:"typology"`
	// Fits tells whether the query of the typology finds the case. Of those that it does not find, some are slower than
	// Within, and some move sums above the threshold that the queries look below.
	Fits     bool      `json:"fits"`
	Payments []Payment `json:"payments"` // by time
}

// Synth makes a stream of payments in the order of their times, and plants cases in it. Accounts pay regular payees
// again and again, shops, and any others. Each payment has an id and an amount, so that two
// payments of one pair are parallel edges.
//
// It is deterministic: its SynthOptions alone decide each payment. It is not safe for concurrent use.
type Synth struct {
	opt     SynthOptions
	rng     *rand.Rand
	cases   []*Case
	planted []plantedPayment // by time
	made    int              // of the background
	next    pay              // of the background
	number  uint64
}

// pay is a payment without an id. Its amount is in cents.
type pay struct {
	from, to uint32
	ts       int64
	amount   int64
}

// plantedPayment is a payment of a case, and its place there.
type plantedPayment struct {
	pay
	of *Case
	at int
}

// NewSynth returns a generator of a new stream.
func NewSynth(opt SynthOptions) *Synth {
	opt.ensureDefaults()
	s := &Synth{opt: opt, rng: rand.New(rand.NewPCG(opt.Seed, 0x616d6c))}
	for i := range opt.Cases {
		s.plant(i)
	}
	slices.SortStableFunc(s.planted, func(a, b plantedPayment) int { return cmp.Compare(a.ts, b.ts) })
	s.draw()
	return s
}

// Next returns the next payment. It returns false at the end.
func (s *Synth) Next() (u dyngraph.Update, ok bool) {
	s.number++
	id := "tx-" + strconv.FormatUint(s.number, 10)
	if len(s.planted) > 0 && (s.made > s.opt.Payments || s.planted[0].ts <= s.next.ts) {
		p := s.planted[0]
		s.planted = s.planted[1:]
		p.of.Payments[p.at] = Payment{id, account(p.from), account(p.to), p.ts, euros(p.amount)}
		return p.update(id), true
	}
	if s.made > s.opt.Payments {
		return u, false
	}
	p := s.next
	s.draw()
	return p.update(id), true
}

// Cases returns the planted cases. Those that begin after the last payment of Next are not complete.
func (s *Synth) Cases() []*Case { return s.cases }

const (
	// regular is the number of payees that an account pays again and again.
	regular = 3
	// shops: one account in 50 is a shop. Shops get a quarter of the payments.
	shops = 50
)

// draw draws the next payment of the background. Their times are spread evenly.
func (s *Synth) draw() {
	if s.made++; s.made > s.opt.Payments {
		return
	}
	n := uint32(s.opt.Accounts)
	p := pay{from: s.rng.Uint32N(n)}
	switch s.rng.IntN(4) {
	case 0:
		p.to = (p.from + 1 + (p.from*2654435761+s.rng.Uint32N(regular)*40503)%(n-1)) % n
	case 1:
		p.to = s.other(p.from, n/shops)
	default:
		p.to = s.other(p.from, n)
	}
	slot := float64(s.opt.Span) / float64(s.opt.Payments)
	p.ts = Epoch + int64((float64(s.made-1)+s.rng.Float64())*slot)
	if p.amount = 100 << s.rng.IntN(13); s.rng.IntN(50) == 0 {
		p.amount = structured(s.rng) // honest ones, too, are just below the threshold
	} else {
		p.amount += s.rng.Int64N(p.amount)
	}
	s.next = p
}

// other draws one of the first n accounts that is not v.
func (s *Synth) other(v, n uint32) uint32 {
	to := s.rng.Uint32N(max(n, 2) - 1)
	if to >= v {
		to++
	}
	return to
}

// structured draws an amount just below 10,000 euros.
func structured(rng *rand.Rand) int64 { return 900_000 + rng.Int64N(100_000) }

// plant plans a case: its accounts, its times and its amounts.
func (s *Synth) plant(number int) {
	typology := Typologies[number%len(Typologies)]
	accounts, links := typology.draw(s.rng)
	kind := s.rng.IntN(8)
	slow, large := kind == 0, kind == 1
	c := &Case{Number: number + 1, Typology: typology, Fits: !slow && !large, Payments: make([]Payment, len(links))}
	ends := distinct(accounts, func() uint32 { return s.rng.Uint32N(uint32(s.opt.Accounts)) })

	s.rng.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
	slices.SortStableFunc(links, func(a, b link) int { return a.round - b.round })
	offsets := s.offsets(len(links), slow, typology)
	start := Epoch + s.rng.Int64N(s.opt.Span-offsets[len(offsets)-1])
	received, pays := make([]int64, accounts), make([]int64, accounts)
	for _, l := range links {
		pays[l.from]++
	}
	for i, l := range links {
		p := pay{from: ends[l.from], to: ends[l.to], ts: start + offsets[i]}
		switch {
		case l.round > 0: // what the account has received, less what it keeps, in equal parts
			p.amount = received[l.from] * (95 + s.rng.Int64N(5)) / 100 / pays[l.from]
		case large:
			p.amount = 2_000_000 + s.rng.Int64N(1_000_000) // what is passed on stays above 10,000 euros, too
		default:
			p.amount = structured(s.rng)
		}
		received[l.to] += p.amount
		s.planted = append(s.planted, plantedPayment{p, c, i})
	}
	s.cases = append(s.cases, c)
}

// offsets draws when the payments of a case are made, in ms from the first one, rising. In a slow case any that make up
// a match of the query span more than Within.
func (s *Synth) offsets(n int, slow bool, t Typology) []int64 {
	out := make([]int64, n)
	if slow {
		gap := int64(Within/(t.asked(n)-1) + 1)
		for i := range out[1:] {
			out[i+1] = out[i] + gap + s.rng.Int64N(gap/100)
		}
		return out
	}
	span := hour + s.rng.Int64N(Within-2*hour)
	for i := range out {
		out[i] = s.rng.Int64N(span)
	}
	slices.Sort(out)
	for i, first := range slices.Backward(out) {
		out[i] = first - out[0] + int64(i) // no two at one time
	}
	return out
}

// update is the payment as an update.
func (p pay) update(id string) dyngraph.Update {
	u := dyngraph.Update{Op: dyngraph.InsertEdge, From: account(p.from), To: account(p.to), Label: "TRANSFER",
		FromLabel: "Account", ToLabel: "Account", Attr: dyngraph.Attr{ID: id, TS: p.ts, HasTS: true}}
	u.Attr.Props = fmt.Appendf(nil, `{"amount":%s}`, euros(p.amount))
	return u
}

func account(v uint32) string { return "account-" + strconv.Itoa(int(v)) }

// euros writes an amount in cents.
func euros(cents int64) json.Number { return json.Number(fmt.Sprintf("%d.%02d", cents/100, cents%100)) }
