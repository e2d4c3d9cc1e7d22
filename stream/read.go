package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"motifd/dyngraph"
)

// updateCost estimates the memory of a decoded update besides its strings, which are bounded by the record's value.
const updateCost = 216

// valueCost is the same for a value of a declared property.
const valueCost = 32

// cost estimates the memory of a message.
func (d *Decoded) cost() int64 {
	values := 0
	for i := range d.Updates {
		values += len(d.Updates[i].Attr.Values)
	}
	return int64(d.size() + updateCost*len(d.Updates) + valueCost*values)
}

// arenaUpdates is the number of updates that are allocated at once.
const arenaUpdates = 256

// read is the reader goroutine: Source, Decoder, queue. ctx ends with the pipeline's graceful stop.
func (p *Pipeline) read(ctx context.Context) error {
	defer p.in.close()
	for {
		begin := time.Now()
		recs, err := p.opt.Source.Read(ctx)
		if ctx.Err() != nil {
			return nil // stopped: what was read will be read again
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("source: %w", err)
		}
		got := time.Now()
		stats := ReadStats{Records: len(recs), Read: got.Sub(begin)}
		msgs := p.decode(recs, got, &stats)
		decoded := time.Now()
		stats.Decode = decoded.Sub(got)
		// Told before somebody can make a batch of it.
		p.opt.Observer.Span(Span{Lane: LaneReader, What: "read", Read: got, Begin: begin, End: got})
		p.opt.Observer.Span(Span{Lane: LaneReader, What: "decode", Read: got, Begin: got, End: decoded})
		for i := range msgs {
			m := &msgs[i]
			if p.in.put(ctx, *m, m.cost()) != nil {
				return nil
			}
		}
		queued := time.Now()
		stats.Wait = queued.Sub(decoded)
		p.opt.Observer.Span(Span{Lane: LaneReader, What: "room", Read: got, Begin: decoded, End: queued})
		p.opt.Observer.Read(stats)
		if err != nil {
			return nil // the end of the input
		}
	}
}

// decode turns records into messages. The updates of several messages share an array.
func (p *Pipeline) decode(recs []Record, now time.Time, stats *ReadStats) []Decoded {
	msgs := make([]Decoded, len(recs))
	var arena []dyngraph.Update
	need := 16 // a guess from the message before, so that no message outgrows the array
	for i, rec := range recs {
		stats.Bytes += len(rec.Key) + len(rec.Value)
		m := &msgs[i]
		*m = Decoded{Record: rec, Read: now, Err: rec.Err}
		if rec.Err != nil {
			continue
		}
		if cap(arena)-len(arena) < need {
			arena = make([]dyngraph.Update, 0, max(arenaUpdates, need))
		}
		start := len(arena)
		grown, err := p.opt.Decoder.Decode(rec, arena)
		if err == nil {
			err = p.ahead(&recs[i], grown[start:])
		}
		if err != nil {
			m.Err = err
			continue
		}
		arena = grown
		m.Updates = arena[start:len(arena):len(arena)]
		stats.Updates += len(m.Updates)
		need = max(16, len(m.Updates))
	}
	return msgs
}

// deadLetter describes a refused message. element is the offending one of an array, or -1.
func (p *Pipeline) deadLetter(d *Decoded, element int, reason string, err error) DeadLetter {
	rec := &d.Record
	l := DeadLetter{
		Partition: rec.Partition, Offset: rec.Offset, Element: element,
		Reason: reason, Error: err.Error(),
		Key: p.truncate(rec.Key), Value: p.truncate(rec.Value), Size: len(rec.Value),
	}
	var re *RecordError
	if errors.As(err, &re) && re.Size > int64(l.Size) {
		l.Size = int(re.Size)
	}
	return l
}

// truncate returns the first DeadLetterBytes of b; when it is shorter than b, as a copy, so that b can go. Nothing is
// nil, as it is when the batch is read from the batch log and published again.
func (p *Pipeline) truncate(b []byte) []byte {
	n := max(p.opt.DeadLetterBytes, 0)
	switch {
	case min(len(b), n) == 0:
		return nil
	case len(b) <= n:
		return b
	}
	return append(make([]byte, 0, n), b[:n]...)
}

// reasonOf returns the code of a refusal, for metrics, and the offending element of the record, or -1.
func reasonOf(err error) (reason string, element int) {
	var de *DecodeError
	var re *RecordError
	var ue *dyngraph.UpdateError
	switch {
	case errors.As(err, &de):
		return de.Reason, de.Element
	case errors.As(err, &re):
		return re.Reason, -1
	case errors.As(err, &ue):
		return string(ue.Reason), -1
	}
	return ReasonUnreadable, -1
}

// accept lets the engine decide message by message, and builds the batch with its dead letters in input order.
func (p *Pipeline) accept(raw *RawBatch) *Batch {
	b := &Batch{Messages: raw.Count, Bytes: raw.Bytes}
	msgs := make([]dyngraph.Message, 0, len(raw.Messages))
	at := make([]int, 0, len(raw.Messages)) // index in raw.Messages, by message
	for i := range raw.Messages {
		if d := &raw.Messages[i]; d.Err == nil {
			msgs = append(msgs, dyngraph.Message{Updates: d.Updates})
			at = append(at, i)
		}
	}
	updates, rejects := p.opt.Engine.Accept(msgs)
	b.Updates = updates
	from := 0
	dead := func(i int) { // the messages from there to message i: those that cannot be decoded, and what is late
		for ; from < i; from++ {
			if d := &raw.Messages[from]; d.Err != nil {
				reason, element := reasonOf(d.Err)
				b.DeadLetters = append(b.DeadLetters, p.deadLetter(d, element, reason, d.Err))
			} else {
				b.DeadLetters = append(b.DeadLetters, p.late(d)...)
			}
		}
	}
	for _, r := range rejects {
		i := at[r.Message]
		dead(i)
		from++
		d := &raw.Messages[i]
		reason, element := reasonOf(r.Err)
		if len(d.Updates) > 1 && r.Update < len(d.Updates) {
			element = int(d.Updates[r.Update].Pos.Element)
		}
		b.DeadLetters = append(b.DeadLetters, p.deadLetter(d, element, reason, r.Err))
	}
	dead(len(raw.Messages))
	return b
}
