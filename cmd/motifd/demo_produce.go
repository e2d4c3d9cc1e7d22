package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"motifd/dyngraph"
	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/source"
)

// demoInput is what was produced: messages of events, in the order of their offsets. It is safe for concurrent use.
type demoInputLog struct {
	mu       sync.Mutex
	messages []demoSent
	planted  map[string]*demoPlant // by key, those not yet found
	plants   int
	updates  uint64
	over     bool // nothing more will be produced

	stop     chan struct{}
	stopOnce sync.Once
}

// demoSent is one message.
type demoSent struct {
	events []demoEvent // nil once it was checked
	first  uint64      // number of its first event
	at     time.Time   // when it was handed to the log
}

func newDemoInput() *demoInputLog {
	return &demoInputLog{planted: make(map[string]*demoPlant), stop: make(chan struct{})}
}

// finish ends the payments.
func (d *demoInputLog) finish() { d.stopOnce.Do(func() { close(d.stop) }) }

// add notes messages that are about to be produced.
func (d *demoInputLog) add(messages [][]demoEvent) {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range messages {
		d.messages = append(d.messages, demoSent{m, m[0].Number, now})
		d.updates += uint64(len(m))
		for i := range m {
			if p := m[i].Completes; p != nil {
				d.plants++
				d.planted[p.key()] = p
			}
		}
	}
}

// produce makes payments at the rate until the duration is over.
func (c *demoCmd) produce(ctx context.Context, broker string, in *demoInputLog) error {
	defer func() {
		in.mu.Lock()
		in.over = true
		in.mu.Unlock()
	}()
	gen := newDemoGen(c.Seed, demoAccounts)
	gen.amounts = true
	transport := &kafkago.Transport{}
	defer transport.CloseIdleConnections()
	client := &kafkago.Client{Addr: kafkago.TCP(broker), Transport: transport}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	begin, made := time.Now(), 0
	for {
		elapsed := time.Since(begin)
		due := int(min(elapsed, c.Duration).Seconds()*float64(c.Rate)) - made
		for due > 0 {
			n := min(due, 50*demoMessage) // in one request
			if err := produceDemo(ctx, client, in, gen, n); err != nil {
				return err
			}
			due, made = due-n, made+n
			select {
			case <-in.stop:
				return nil
			default:
			}
			if time.Since(begin) > c.Duration {
				return nil // the machine does not keep up with the rate
			}
		}
		if elapsed >= c.Duration {
			return nil
		}
		select {
		case <-tick.C:
		case <-in.stop:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// produceDemo makes n payments and puts them into the input topic.
func produceDemo(ctx context.Context, client *kafkago.Client, in *demoInputLog, gen *demoGen, n int) error {
	var messages [][]demoEvent
	var records []kafkago.Record
	for n > 0 {
		m := make([]demoEvent, 0, min(n, demoMessage))
		list := make([]demoUpdate, 0, cap(m))
		for range cap(m) {
			e := gen.next()
			m = append(m, e)
			list = append(list, newDemoUpdate(&e.Update))
		}
		n -= len(m)
		value, err := json.Marshal(list)
		if err != nil {
			return fmt.Errorf("encoding payments: %w", err)
		}
		messages = append(messages, m)
		records = append(records, kafkago.Record{Value: kafkago.NewBytes(value)})
	}
	in.add(messages)
	resp, err := client.Produce(ctx, &kafkago.ProduceRequest{
		Topic: demoInput, Partition: 0, RequiredAcks: kafkago.RequireAll, Records: kafkago.NewRecordReader(records...),
	})
	if err == nil {
		err = resp.Error
	}
	if err != nil {
		return fmt.Errorf("producing payments: %w", err)
	}
	return nil
}

// demoUpdate is an update as JSON.
type demoUpdate struct {
	Op        string          `json:"op"`
	From      string          `json:"from"`
	To        string          `json:"to"`
	Label     string          `json:"label"`
	FromLabel string          `json:"from_label,omitempty"`
	ToLabel   string          `json:"to_label,omitempty"`
	ID        string          `json:"id,omitempty"`
	TS        int64           `json:"ts,omitempty"`
	Props     json.RawMessage `json:"props,omitempty"`
}

func newDemoUpdate(u *dyngraph.Update) demoUpdate {
	return demoUpdate{u.Op.String(), u.From, u.To, u.Label, u.FromLabel, u.ToLabel, u.Attr.ID, u.Attr.TS,
		u.Attr.Props}
}

// newDemoConsumer reads a topic of the demo from its beginning.
func newDemoConsumer(broker, topic string) (*source.Source, error) {
	return source.New(source.Options{ClientOptions: kafka.ClientOptions{Brokers: []string{broker}}, Topic: topic})
}

// consume hands the values of a topic to a function until ctx is done.
func consume(ctx context.Context, src *source.Source, take func([]byte) error) (err error) {
	defer func() { err = errors.Join(err, src.Close()) }()
	if err := src.Seek(ctx, stream.Positions{}); err != nil {
		return ignoreDone(ctx, err)
	}
	for {
		recs, err := src.Read(ctx)
		if err != nil {
			return ignoreDone(ctx, err)
		}
		for i := range recs {
			if err := take(recs[i].Value); err != nil {
				return err
			}
		}
	}
}

// ignoreDone drops errors that come of stopping.
func ignoreDone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
