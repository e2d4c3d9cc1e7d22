package checkpoint

import (
	"encoding/binary"
	"maps"
	"slices"

	"motifd/dyngraph"
	"motifd/stream"
	"motifd/stream/eventtime"
)

// timeVersion is the first byte of values that hold event time, behind what values of codecVersion hold. They are
// written where edges expire, and the checkpoint has format 4 then.
const timeVersion = 3

// declareVersion is the first byte of the intent and of the end of a batch that is a step of a change of the declared
// properties. It follows what values of codecVersion hold. The checkpoint has format 5 then.
const declareVersion = 4

// versionOfIntent returns the first byte of an intent.
func versionOfIntent(b *stream.Batch) byte {
	if b.Declaration != nil {
		return declareVersion
	}
	return versionOf(b.Time != nil)
}

// formatOf returns the format that a checkpoint has at least once it holds the intent.
func formatOf(b *stream.Batch) uint64 {
	if b.Change != nil && b.Change.Add != nil && b.Change.Add.Extended() {
		return queryFormat
	}
	switch versionOfIntent(b) {
	case declareVersion:
		return declareFormat
	case timeVersion:
		return timeFormat
	}
	return plainFormat
}

// versionOf returns the first byte of a value with or without event time.
func versionOf(hasTime bool) byte {
	if hasTime {
		return timeVersion
	}
	return codecVersion
}

func appendWatermark(b []byte, w eventtime.Watermark) []byte {
	if b = appendBool(b, w.Known); w.Known {
		b = binary.AppendVarint(b, w.TS)
	}
	return b
}

func (d *decoder) watermark() (w eventtime.Watermark) {
	if w.Known = d.bool(); w.Known {
		w.TS = d.varint()
	}
	return w
}

func appendHorizons(b []byte, hs []dyngraph.Horizon) []byte {
	b = binary.AppendUvarint(b, uint64(len(hs)))
	for _, h := range hs {
		b = binary.AppendVarint(appendString(b, h.Label), h.Before)
	}
	return b
}

func (d *decoder) horizons() []dyngraph.Horizon {
	n := d.count(2)
	if n == 0 {
		return nil
	}
	hs := make([]dyngraph.Horizon, n)
	for i := range hs {
		hs[i] = dyngraph.Horizon{Label: d.string(), Before: d.varint()}
		if i > 0 && hs[i-1].Label >= hs[i].Label {
			d.fail()
			return nil
		}
	}
	return hs
}

func appendRetention(b []byte, r eventtime.Retention) []byte {
	b = binary.AppendUvarint(b, uint64(len(r)))
	for _, k := range r {
		b = binary.AppendUvarint(appendString(b, k.Label), uint64(k.For))
	}
	return b
}

func (d *decoder) retention() eventtime.Retention {
	n := d.count(2)
	if n == 0 {
		return nil
	}
	r := make(eventtime.Retention, n)
	for i := range r {
		r[i] = eventtime.Keep{Label: d.string(), For: int64(d.uvarint())}
		if r[i].For < 1 || i > 0 && r[i-1].Label >= r[i].Label {
			d.fail()
			return nil
		}
	}
	return r
}

// appendCut encodes what a batch says about event time.
func appendCut(b []byte, t *stream.Batch) []byte {
	c := t.Time
	b = appendBool(appendHorizons(appendWatermark(b, c.Watermark), t.Horizons), t.Isolated)
	if b = appendBool(b, c.Retention != nil); c.Retention != nil {
		b = appendRetention(b, *c.Retention)
	}
	return b
}

func (d *decoder) cut(t *stream.Batch) {
	c := &eventtime.Cut{Watermark: d.watermark()}
	t.Time, t.Horizons, t.Isolated = c, d.horizons(), d.bool()
	if d.bool() {
		r := d.retention()
		c.Retention = &r
	}
}

// appendTime encodes event time after a batch.
func appendTime(b []byte, s *eventtime.State) []byte {
	b = appendHorizons(appendWatermark(appendRetention(b, s.Retention), s.Watermark), s.Horizons)
	b = binary.AppendUvarint(b, uint64(len(s.Partitions)))
	for _, p := range s.Partitions {
		if b = appendBool(binary.AppendVarint(b, int64(p.ID)), p.HasTS); p.HasTS {
			b = binary.AppendVarint(b, p.Greatest)
		}
	}
	return b
}

func (d *decoder) time() *eventtime.State {
	s := &eventtime.State{Retention: d.retention(), Watermark: d.watermark(), Horizons: d.horizons()}
	if n := d.count(2); n > 0 {
		s.Partitions = make([]eventtime.Partition, n)
		for i := range s.Partitions {
			p := &s.Partitions[i]
			if p.ID, p.HasTS = d.int32(), d.bool(); p.HasTS {
				p.Greatest = d.varint()
			}
			if i > 0 && s.Partitions[i-1].ID >= p.ID {
				d.fail()
				return s
			}
		}
	}
	return s
}

// appendTimeReport encodes event time in a batch record.
func appendTimeReport(b []byte, r *stream.TimeReport) []byte {
	if b = appendBool(b, r.Watermark != nil); r.Watermark != nil {
		b = binary.AppendVarint(b, *r.Watermark)
	}
	b = appendNumbers(b, r.Horizons)
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(r.Expired)), uint64(r.Late))
	if b = appendBool(b, r.Retention != nil); r.Retention != nil {
		b = appendNumbers(b, *r.Retention)
	}
	return b
}

func (d *decoder) timeReport() *stream.TimeReport {
	r := new(stream.TimeReport)
	if d.bool() {
		ts := d.varint()
		r.Watermark = &ts
	}
	if m := d.numbers(); len(m) > 0 {
		r.Horizons = m
	}
	r.Expired, r.Late = d.int(), d.int()
	if d.bool() {
		m := d.numbers()
		r.Retention = &m
	}
	return r
}

// appendNumbers encodes numbers by label.
func appendNumbers(b []byte, m map[string]int64) []byte {
	b = binary.AppendUvarint(b, uint64(len(m)))
	for _, label := range slices.Sorted(maps.Keys(m)) {
		b = binary.AppendVarint(appendString(b, label), m[label])
	}
	return b
}

func (d *decoder) numbers() map[string]int64 {
	n := d.count(2)
	m := make(map[string]int64, n)
	for range n {
		label := d.string()
		m[label] = d.varint()
	}
	if len(m) != n {
		d.fail()
	}
	return m
}
