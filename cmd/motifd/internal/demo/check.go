package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"motifd/cmd/motifd/internal/payments"
	"motifd/dyngraph"
	"motifd/matcher"
)

// delta is a record of the output topic, as far as the demo reads it.
type delta struct {
	Batch    uint64             `json:"batch"`
	Index    uint64             `json:"index"`
	Query    string             `json:"query"`
	Op       string             `json:"op"`
	Match    string             `json:"match"`
	Vertices map[string]vertex  `json:"vertices"`
	Edges    map[string]payment `json:"edges"`
	Anchor   struct {
		TS int64 `json:"ts"`
	} `json:"anchor"`
	came time.Time
	raw  []byte // the record
}

// payment is an edge of a delta.
type payment struct {
	payments.Edge
	Props struct {
		Amount int `json:"amount"` // in euros
	} `json:"props"`
}

type vertex struct {
	Key   string `json:"key"`
	Label string `json:"label"`
}

// batchReport is a record of the control topic, as far as the demo reads it.
type batchReport struct {
	Batch     uint64           `json:"batch"`
	Records   uint64           `json:"records"`
	Positions map[string]int64 `json:"positions"`
}

// checker compares what the daemon reports with what was planted, and asks an oracle of its own about each match:
// the payments themselves, applied to a set of edges up to the batch in question.
type checker struct {
	in      *produced
	out     io.Writer
	quiet   bool
	queries map[string]*matcher.Query

	mu      sync.Mutex
	alerts  map[uint64][]delta // by batch
	reports map[uint64]batchReport
	wake    chan struct{}

	// Of run's goroutine.
	next    int // message
	edges   map[payments.Edge]bool
	labels  map[string]string // of vertices
	latency []time.Duration
	sum     summary
	rings   map[string]*delta // announced and not withdrawn, by match
	story   story

	finished chan struct{}
	ended    time.Time
}

func newChecker(in *produced, queries []*matcher.Query, out io.Writer, quiet bool) *checker {
	c := &checker{
		in: in, out: out, quiet: quiet, queries: make(map[string]*matcher.Query),
		alerts: make(map[uint64][]delta), reports: make(map[uint64]batchReport), wake: make(chan struct{}, 1),
		edges: make(map[payments.Edge]bool), rings: make(map[string]*delta), labels: make(map[string]string),
		finished: make(chan struct{}),
	}
	for _, q := range queries {
		c.queries[q.Name] = q
	}
	return c
}

// addAlert takes a record of the output topic.
func (c *checker) addAlert(value []byte) error {
	a := delta{came: time.Now(), raw: slices.Clone(value)}
	if err := json.Unmarshal(value, &a); err != nil {
		return fmt.Errorf("an alert is no JSON: %w", err)
	}
	if !c.quiet {
		if err := c.show(&a); err != nil {
			return err
		}
	}
	c.mu.Lock()
	c.alerts[a.Batch] = append(c.alerts[a.Batch], a)
	c.mu.Unlock()
	c.signal()
	return nil
}

// addReport takes a record of the control topic.
func (c *checker) addReport(value []byte) error {
	var r batchReport
	if err := json.Unmarshal(value, &r); err != nil {
		return fmt.Errorf("a batch record is no JSON: %w", err)
	}
	c.mu.Lock()
	c.reports[r.Batch] = r
	c.mu.Unlock()
	c.signal()
	return nil
}

func (c *checker) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// show prints an alert.
func (c *checker) show(a *delta) error {
	keys := c.keys(a)
	arrow, what := " -> ", strings.Join(keys, " -> ")
	switch a.Query {
	case "fan-in":
		arrow = " <- "
		fallthrough
	case "fan-out":
		what = keys[0] + arrow + strings.Join(keys[1:], ", ")
	default:
		what += arrow + keys[0]
	}
	worth := "withdrawn"
	if a.Op == "+" {
		sum := 0
		for _, e := range a.Edges {
			sum += e.Props.Amount
		}
		worth = euros(sum)
	}
	_, err := fmt.Fprintf(c.out, "%s  %s %-7s  %11s  %s\n", a.came.Format("15:04:05.000"), a.Op, a.Query, worth, what)
	return err
}

// keys are the keys of a match in pattern order.
func (c *checker) keys(a *delta) []string {
	q := c.queries[a.Query]
	if q == nil {
		return nil
	}
	keys := make([]string, len(q.Vertices))
	for i, v := range q.Vertices {
		keys[i] = a.Vertices[v.Name].Key
	}
	return keys
}

// run checks batch by batch until everything that was produced is checked.
func (c *checker) run(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond) // the end of the input wakes nobody
	defer tick.Stop()
	for n := uint64(1); ; {
		report, alerts, ok := c.complete(n)
		if ok {
			c.check(&report, alerts)
			n++
			continue
		}
		if c.done() {
			c.ended = time.Now()
			close(c.finished)
			return nil
		}
		select {
		case <-c.wake:
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// done tells that nothing is under way any more.
func (c *checker) done() bool {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	return c.in.over && c.next == len(c.in.messages)
}

// complete returns a batch when all its records have come.
func (c *checker) complete(n uint64) (batchReport, []delta, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.reports[n]
	alerts := c.alerts[n]
	if !ok || uint64(len(alerts)) < r.Records {
		return r, nil, false
	}
	delete(c.reports, n)
	delete(c.alerts, n)
	return r, alerts, true
}

// check compares a batch's alerts with the payments before and after it.
func (c *checker) check(r *batchReport, alerts []delta) {
	before := make([]bool, len(alerts))
	for i := range alerts {
		before[i] = c.holds(&alerts[i])
	}
	c.apply(r.Positions["0"])
	for i := range alerts {
		a := &alerts[i]
		holds := c.holds(a)
		plus := a.Op == "+"
		if plus {
			c.sum.Positive++
		} else {
			c.sum.Negative++
		}
		if holds != plus || before[i] == plus || uint64(i) != a.Index {
			c.sum.Wrong++
		} else if plus {
			c.find(a)
		}
		c.follow(a)
		c.time(a)
	}
}

// find counts a true alert as found or unexpected.
func (c *checker) find(a *delta) {
	key := payments.Key(a.Query, c.keys(a))
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	if _, ok := c.in.planted[key]; ok {
		delete(c.in.planted, key)
		c.sum.Found++
	} else {
		c.sum.Unexpected++
	}
}

// time notes how long it took from the payment that caused an alert to the alert.
func (c *checker) time(a *delta) {
	number := uint64(a.Anchor.TS - payments.Epoch)
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	m := c.in.messages
	i, exact := slices.BinarySearchFunc(m, number, func(s message, n uint64) int {
		switch {
		case s.first < n:
			return -1
		case s.first > n:
			return 1
		}
		return 0
	})
	if !exact {
		i--
	}
	if i >= 0 {
		c.latency = append(c.latency, a.came.Sub(m[i].at))
	}
}

// apply takes over the payments of the messages before an offset.
func (c *checker) apply(offset int64) {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	for ; int64(c.next) < offset; c.next++ {
		m := &c.in.messages[c.next]
		for i := range m.events {
			u := &m.events[i].Update
			e := payments.Edge{From: u.From, To: u.To, Label: u.Label}
			if u.Op == dyngraph.DeleteEdge {
				delete(c.edges, e)
				continue
			}
			c.edges[e] = true
			c.labels[u.From], c.labels[u.To] = u.FromLabel, u.ToLabel
		}
		m.events = nil
	}
}

// holds tells whether an alert is a match in the present payments: labels, distinct vertices, and every edge.
func (c *checker) holds(a *delta) bool {
	q := c.queries[a.Query]
	if q == nil || len(a.Vertices) != len(q.Vertices) || len(a.Edges) != len(q.Edges) {
		return false
	}
	keys := c.keys(a)
	for i, v := range q.Vertices {
		if slices.Contains(keys[:i], keys[i]) || v.Label != "" && c.labels[keys[i]] != v.Label {
			return false
		}
	}
	for _, e := range q.Edges {
		reported := a.Edges[e.Name].Edge
		want := payments.Edge{From: keys[e.From], To: keys[e.To], Label: e.Label}
		if reported.ID = ""; reported != want || !c.edges[want] {
			return false
		}
	}
	return true
}
