//go:build kafka && unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"motifd/dyngraph"
	"motifd/stream/kafka/brokertest"
)

// tortureInput makes a seeded stream of messages with insertions, deletions, relabellings and records that are to be
// refused. The graph falls into one community per input partition, so that the order in which the partitions are
// read makes no difference to its end.
type tortureInput struct {
	rng         *rand.Rand
	communities []community
	pad         int   // bytes of white space behind each message
	clock       int64 // event time in ms, one for each insertion
}

// community is the part of the graph that one partition tells of.
type community struct {
	live [][3]string         // edges, as they were inserted; some have gone with their vertices
	sent [][]dyngraph.Update // messages; nil for a record that is no message
}

const (
	tortureVertices = 40 // of a community
	tortureEdges    = 260
)

func newTortureInput(seed uint64, partitions int) *tortureInput {
	return &tortureInput{rng: rand.New(rand.NewPCG(seed, 1)), communities: make([]community, partitions)}
}

func (in *tortureInput) vertex(p int) string {
	return fmt.Sprintf("p%d-%d", p, in.rng.IntN(tortureVertices))
}

func (in *tortureInput) edge(p int) dyngraph.Update {
	c := &in.communities[p]
	if n := len(c.live); n > 0 && in.rng.IntN(2*tortureEdges) < n {
		i := in.rng.IntN(n)
		e := c.live[i]
		c.live[i] = c.live[n-1]
		c.live = c.live[:n-1]
		return dyngraph.Update{Op: dyngraph.DeleteEdge, From: e[0], To: e[1], Label: e[2]}
	}
	in.clock++
	u := dyngraph.Update{Op: dyngraph.InsertEdge, From: in.vertex(p), To: in.vertex(p),
		Label: string("TU"[in.rng.IntN(2)]), Attr: dyngraph.Attr{TS: in.clock, HasTS: true}}
	for u.To == u.From {
		u.To = in.vertex(p)
	}
	c.live = append(c.live, [3]string{u.From, u.To, u.Label})
	return u
}

// relabel deletes a vertex with its edges and declares it again, or leaves that to a later message.
func (in *tortureInput) relabel(p int) []dyngraph.Update {
	key := in.vertex(p)
	out := []dyngraph.Update{{Op: dyngraph.DeleteVertex, Key: key}}
	if in.rng.IntN(4) > 0 {
		out = append(out, dyngraph.Update{Op: dyngraph.InsertVertex, Key: key, Label: string("AB"[in.rng.IntN(2)])})
	}
	for range in.rng.IntN(5) {
		if other := in.vertex(p); other != key {
			u := dyngraph.Update{Op: dyngraph.InsertEdge, From: key, To: other, Label: "T"}
			out = append(out, u)
			in.communities[p].live = append(in.communities[p].live, [3]string{u.From, u.To, u.Label})
		}
	}
	return out
}

// next returns a record and its partition.
func (in *tortureInput) next() (int, []byte) {
	p := in.rng.IntN(len(in.communities))
	c := &in.communities[p]
	var msg []dyngraph.Update
	switch n := in.rng.IntN(100); {
	case n < 2:
		c.sent = append(c.sent, nil)
		return p, []byte(`{"op":"+","from":`)
	case n < 4: // refused as a whole
		msg = []dyngraph.Update{in.edge(p), {Op: dyngraph.InsertEdge, From: "loop", To: "loop"}}
	case n < 12: // declares or contradicts
		msg = []dyngraph.Update{{Op: dyngraph.InsertVertex, Key: in.vertex(p), Label: string("AB"[in.rng.IntN(2)])}}
	case n < 20:
		msg = in.relabel(p)
	default:
		for range 1 + in.rng.IntN(10) {
			msg = append(msg, in.edge(p))
		}
	}
	c.sent = append(c.sent, msg)
	return p, encodeUpdates(msg)
}

func encodeUpdates(msg []dyngraph.Update) []byte {
	type update struct {
		Op    string `json:"op"`
		Key   string `json:"key,omitempty"`
		From  string `json:"from,omitempty"`
		To    string `json:"to,omitempty"`
		Label string `json:"label,omitempty"`
		TS    int64  `json:"ts,omitempty"`
	}
	out := make([]update, len(msg))
	for i, u := range msg {
		out[i] = update{u.Op.String(), u.Key, u.From, u.To, u.Label, u.Attr.TS}
	}
	text, err := json.Marshal(out)
	if err != nil {
		panic(err) // strings alone
	}
	return text
}

// client is an idempotent producer: whatever happens to the broker, each record is in the topic once and in order.
func (in *tortureInput) client(addr, topic string) (*kgo.Client, error) {
	return brokertest.NewClient(addr, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.DefaultProduceTopic(topic),
		kgo.ProducerLinger(0))
}

// record is the next message.
func (in *tortureInput) record() *kgo.Record {
	p, value := in.next()
	return &kgo.Record{Partition: int32(p), Value: append(value, bytes.Repeat([]byte{' '}, in.pad)...)}
}

// flood sends messages as fast as it goes.
func (in *tortureInput) flood(ctx context.Context, addr, topic string, messages int) error {
	cl, err := in.client(addr, topic)
	if err != nil {
		return err
	}
	defer cl.Close()
	recs := make([]*kgo.Record, messages)
	for i := range recs {
		recs[i] = in.record()
	}
	return cl.ProduceSync(ctx, recs...).FirstErr()
}

// produce sends messages, one each interval, until ctx is done; it returns when the broker has all of them.
func (in *tortureInput) produce(ctx context.Context, addr, topic string, interval time.Duration) error {
	cl, err := in.client(addr, topic)
	if err != nil {
		return err
	}
	defer cl.Close()
	var once sync.Once
	var failed error
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			continue
		}
		cl.Produce(context.WithoutCancel(ctx), in.record(), func(_ *kgo.Record, err error) {
			if err != nil {
				once.Do(func() { failed = err })
			}
		})
	}
	if err := cl.Flush(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	return failed
}
