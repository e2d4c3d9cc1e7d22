package kafka

import "time"

// Operation is one operation that nothing goes on without, as Events.Blocked tells of it.
type Operation struct {
	e         *Events
	op, topic string
	partition int32
	since     time.Time // of the attempt that is under way, or of the first one that failed
	told      bool
}

// Follow returns an operation that begins now.
func (e *Events) Follow(op, topic string, partition int32) *Operation {
	return &Operation{e: e, op: op, topic: topic, partition: partition, since: time.Now()}
}

// Failed tells of an attempt that is made again.
func (b *Operation) Failed(err error) {
	if f := b.e.Blocked; f != nil {
		b.told = true
		f(b.op, b.topic, b.partition, b.since, err)
	}
}

// Over tells that the operation has ended. The next one begins now.
func (b *Operation) Over() {
	if b.told {
		b.told = false
		b.e.Blocked(b.op, b.topic, b.partition, b.since, nil)
	}
	b.since = time.Now()
}
