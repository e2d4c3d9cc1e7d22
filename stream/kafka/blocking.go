package kafka

import "time"

// blocking follows one operation that nothing goes on without, for Events.Blocked.
type blocking struct {
	e         *Events
	op, topic string
	partition int32
	since     time.Time // of the attempt that is under way, or of the first one that failed
	told      bool
}

func (e *Events) blocking(op, topic string, partition int32) *blocking {
	return &blocking{e: e, op: op, topic: topic, partition: partition, since: time.Now()}
}

// failed tells of an attempt that is made again.
func (b *blocking) failed(err error) {
	if f := b.e.Blocked; f != nil {
		b.told = true
		f(b.op, b.topic, b.partition, b.since, err)
	}
}

// over tells that the operation has ended. The next one begins now.
func (b *blocking) over() {
	if b.told {
		b.told = false
		b.e.Blocked(b.op, b.topic, b.partition, b.since, nil)
	}
	b.since = time.Now()
}
