package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"motifd/cmd/motifd/internal/payments"
	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/source"
)

// produced is the content of the input topic: messages of events by offset. It is safe for concurrent use.
type produced struct {
	mu       sync.Mutex
	messages []message
	planted  map[string]*payments.Plant // by key, those not yet found
	plants   int
	updates  uint64
	over     bool // nothing more will be produced

	stop     chan struct{}
	stopOnce sync.Once
}

// message is a record of the input topic.
type message struct {
	events []payments.Event // nil once it was checked
	first  uint64           // number of its first event
	at     time.Time        // when it was handed to the log
}

func newProduced() *produced {
	return &produced{planted: make(map[string]*payments.Plant), stop: make(chan struct{})}
}

// finish ends the payments.
func (d *produced) finish() { d.stopOnce.Do(func() { close(d.stop) }) }

// add notes messages that are about to be produced.
func (d *produced) add(messages [][]payments.Event) {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range messages {
		d.messages = append(d.messages, message{m, m[0].Number, now})
		d.updates += uint64(len(m))
		for i := range m {
			if p := m[i].Completes; p != nil {
				d.plants++
				d.planted[p.Key()] = p
			}
		}
	}
}

// produce makes payments at the rate until the duration is over.
func (c *Command) produce(ctx context.Context, broker string, in *produced) error {
	defer func() {
		in.mu.Lock()
		in.over = true
		in.mu.Unlock()
	}()
	gen := payments.NewGenerator(payments.Options{Seed: c.Seed, Accounts: accounts, Amounts: true})
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
			n := min(due, 50*messageSize) // in one request
			if err := produceMessages(ctx, client, in, gen, n); err != nil {
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

// produceMessages makes n payments and puts them into the input topic.
func produceMessages(ctx context.Context, client *kafkago.Client, in *produced, gen *payments.Generator, n int) error {
	var messages [][]payments.Event
	var records []kafkago.Record
	for n > 0 {
		m := make([]payments.Event, 0, min(n, messageSize))
		list := make([]payments.Update, 0, cap(m))
		for range cap(m) {
			e := gen.Next()
			m = append(m, e)
			list = append(list, payments.NewUpdate(&e.Update))
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
		Topic: InputTopic, Partition: 0, RequiredAcks: kafkago.RequireAll, Records: kafkago.NewRecordReader(records...),
	})
	if err == nil {
		err = resp.Error
	}
	if err != nil {
		return fmt.Errorf("producing payments: %w", err)
	}
	return nil
}

// Consume hands the values of a topic's records, from its beginning, to a function until ctx is done.
func Consume(ctx context.Context, broker, topic string, take func([]byte) error) (err error) {
	src, err := source.New(source.Options{ClientOptions: kafka.ClientOptions{Brokers: []string{broker}}, Topic: topic})
	if err != nil {
		return err
	}
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

// ignoreDone drops errors after ctx is done: they come of stopping.
func ignoreDone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
