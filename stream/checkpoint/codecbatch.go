package checkpoint

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
)

// intent is the first part of a log entry: the batch as it was cut, and the record-shaping settings that it was cut
// under.
type intent struct {
	batch stream.Batch
	shape string
}

// The bits that tell which fields of an update follow.
const (
	updFrom = 1 << iota
	updTo
	updKey
	updLabel
	updFromLabel
	updToLabel
	updAttr
	updElement
)

// names replaces repeated strings (labels) by their place in the value: 0 and the string, or n and the n-th one.
type names struct {
	at   map[string]uint64
	list []string
}

func (t *names) append(b []byte, s string) []byte {
	if n, ok := t.at[s]; ok {
		return binary.AppendUvarint(b, n)
	}
	if t.at == nil {
		t.at = make(map[string]uint64)
	}
	t.at[s] = uint64(len(t.at)) + 1
	return appendString(append(b, 0), s)
}

func (t *names) read(d *decoder) string {
	n := d.uvarint()
	if n == 0 {
		s := d.string()
		t.list = append(t.list, s)
		return s
	}
	if n > uint64(len(t.list)) {
		d.fail()
		return ""
	}
	return t.list[n-1]
}

func appendUpdates(b []byte, us []dyngraph.Update) []byte {
	b = binary.AppendUvarint(b, uint64(len(us)))
	var labels names
	var partition int32
	var offset int64
	for i := range us {
		u := &us[i]
		var flags byte
		set := func(bit byte, is bool) {
			if is {
				flags |= bit
			}
		}
		set(updFrom, u.From != "")
		set(updTo, u.To != "")
		set(updKey, u.Key != "")
		set(updLabel, u.Label != "")
		set(updFromLabel, u.FromLabel != "")
		set(updToLabel, u.ToLabel != "")
		set(updAttr, u.Attr.ID != "" || u.Attr.HasTS || len(u.Attr.Props) > 0 || len(u.Attr.Values) > 0)
		set(updElement, u.Pos.Element != 0)
		b = append(b, byte(u.Op), flags)
		for _, s := range [...]string{u.From, u.To, u.Key} {
			if s != "" {
				b = appendString(b, s)
			}
		}
		for _, s := range [...]string{u.Label, u.FromLabel, u.ToLabel} {
			if s != "" {
				b = labels.append(b, s)
			}
		}
		if flags&updAttr != 0 {
			b = appendAttrField(b, &u.Attr)
		}
		if u.Op == dyngraph.ReviseVertex {
			b = appendColumns(b, u.Named)
		}
		b = binary.AppendVarint(b, int64(u.Pos.Partition)-int64(partition))
		b = binary.AppendVarint(b, u.Pos.Offset-offset)
		partition, offset = u.Pos.Partition, u.Pos.Offset
		if flags&updElement != 0 {
			b = binary.AppendVarint(b, int64(u.Pos.Element))
		}
	}
	return b
}

func (d *decoder) updates() []dyngraph.Update {
	n := d.count(4)
	if n == 0 {
		return nil
	}
	us := make([]dyngraph.Update, n)
	var labels names
	var partition int64
	var offset int64
	for i := range us {
		u := &us[i]
		u.Op = dyngraph.Op(d.byte())
		flags := d.byte()
		for j, s := range [...]*string{&u.From, &u.To, &u.Key} {
			if flags&(updFrom<<j) != 0 {
				*s = d.string()
			}
		}
		for j, s := range [...]*string{&u.Label, &u.FromLabel, &u.ToLabel} {
			if flags&(updLabel<<j) != 0 {
				*s = labels.read(d)
			}
		}
		if flags&updAttr != 0 {
			u.Attr = d.attrField()
		}
		if u.Op == dyngraph.ReviseVertex {
			u.Named = d.columns()
		}
		partition += d.varint()
		if partition != int64(int32(partition)) {
			d.fail()
		}
		offset += d.varint()
		u.Pos.Partition, u.Pos.Offset = int32(partition), offset
		if flags&updElement != 0 {
			u.Pos.Element = d.int32()
		}
		if d.bad {
			return nil
		}
	}
	return us
}

// appendColumns encodes the columns that an update of a vertex names.
func appendColumns(b []byte, columns []int) []byte {
	b = binary.AppendUvarint(b, uint64(len(columns)))
	for _, column := range columns {
		b = binary.AppendUvarint(b, uint64(column))
	}
	return b
}

func (d *decoder) columns() (columns []int) {
	for range d.count(1) {
		columns = append(columns, d.int())
	}
	return columns
}

func appendDeadLetters(b []byte, ls []stream.DeadLetter) []byte {
	b = binary.AppendUvarint(b, uint64(len(ls)))
	for i := range ls {
		l := &ls[i]
		b = binary.AppendVarint(b, int64(l.Partition))
		b = binary.AppendVarint(b, l.Offset)
		b = binary.AppendVarint(b, int64(l.Element))
		b = appendString(b, l.Reason)
		b = appendString(b, l.Error)
		b = appendString(b, l.Key)
		b = appendString(b, l.Value)
		b = binary.AppendVarint(b, int64(l.Size))
	}
	return b
}

func (d *decoder) deadLetters() []stream.DeadLetter {
	n := d.count(8)
	if n == 0 {
		return nil
	}
	ls := make([]stream.DeadLetter, n)
	for i := range ls {
		ls[i] = stream.DeadLetter{
			Partition: d.int32(), Offset: d.varint(), Element: int(d.varint()),
			Reason: d.string(), Error: d.string(), Key: d.bytes(), Value: d.bytes(), Size: int(d.varint()),
		}
	}
	return ls
}

func appendPositions(b []byte, p stream.Positions) []byte {
	b = binary.AppendUvarint(b, uint64(len(p)))
	for _, part := range slices.Sorted(maps.Keys(p)) {
		b = binary.AppendVarint(b, int64(part))
		b = binary.AppendVarint(b, p[part])
	}
	return b
}

func (d *decoder) positions() stream.Positions {
	n := d.count(2)
	p := make(stream.Positions, n)
	for range n {
		part := d.int32()
		p[part] = d.varint()
	}
	if len(p) != n {
		d.fail()
	}
	return p
}

func appendDecision(b []byte, x *matcher.Decision) []byte {
	b = appendString(b, x.Query)
	b = binary.AppendUvarint(b, x.Version)
	b = binary.AppendVarint(b, int64(x.Sign))
	b = binary.AppendUvarint(b, uint64(x.Order))
	b = append(b, byte(x.Action), byte(x.Cause))
	b = appendBool(b, x.Snapshot)
	return binary.AppendUvarint(b, x.Kept)
}

// decision reads a decision. Format 1 knew suspensions for work_budget alone.
func (d *decoder) decision() (x matcher.Decision) {
	x.Query, x.Version = d.string(), d.uvarint()
	sign := d.varint()
	if sign < int64(dyngraph.Deleted) || sign > int64(dyngraph.Inserted) || sign == 0 && d.version == 1 {
		d.fail()
	}
	x.Sign, x.Order = dyngraph.Sign(sign), d.uint32()
	if d.version == 1 {
		x.Cause = matcher.CauseSteps
		return x
	}
	x.Action, x.Cause = matcher.Action(d.byte()), matcher.Cause(d.byte())
	if x.Action > matcher.NoTotal || x.Cause > matcher.CauseOutput {
		d.fail()
	}
	x.Snapshot, x.Kept = d.bool(), d.uvarint()
	return x
}

// appendIntent encodes a batch, with event time if the value has timeVersion. A query change is kept as JSON, as
// queries are everywhere.
func appendIntent(b []byte, in *intent) ([]byte, error) {
	t := &in.batch
	b = binary.AppendUvarint(b, t.Number)
	b = appendString(b, in.shape)
	b = binary.AppendVarint(b, int64(t.OutputPartitions))
	b = binary.AppendVarint(b, int64(t.Messages))
	b = binary.AppendVarint(b, int64(t.Bytes))
	b = appendPositions(b, t.Positions)
	b = appendBool(b, t.Change != nil)
	if t.Change != nil {
		js, err := json.Marshal(t.Change)
		if err != nil {
			return nil, err
		}
		b = appendString(b, js)
	}
	b = binary.AppendUvarint(b, uint64(len(t.Decisions)))
	for i := range t.Decisions {
		b = appendDecision(b, &t.Decisions[i])
	}
	b = appendUpdates(b, t.Updates)
	b = appendDeadLetters(b, t.DeadLetters)
	if t.Declaration != nil {
		return appendJSON(b, t.Declaration)
	}
	if t.Time != nil {
		b = appendCut(b, t)
	}
	return b, nil
}

func (d *decoder) intent() (*intent, error) {
	in := new(intent)
	t := &in.batch
	t.Number = d.uvarint()
	in.shape = d.string()
	t.OutputPartitions = d.int32()
	t.Messages, t.Bytes = int(d.varint()), int(d.varint())
	t.Positions = d.positions()
	if d.bool() {
		js := d.raw()
		if !d.bad {
			t.Change = new(matcher.QueryChange)
			if err := json.Unmarshal(js, t.Change); err != nil {
				return nil, damaged("the query change of batch %d: %v", t.Number, err)
			}
		}
	}
	for range d.count(4) {
		t.Decisions = append(t.Decisions, d.decision())
	}
	t.Updates = d.updates()
	t.DeadLetters = d.deadLetters()
	switch d.version {
	case timeVersion:
		d.cut(t)
	case declareVersion:
		t.Declaration = new(dyngraph.Declaration)
		if err := d.json(t.Declaration); err != nil {
			return nil, damaged("the declared properties of batch %d: %v", t.Number, err)
		}
		if t.Declaration.Schema == nil {
			d.fail()
		}
	}
	return in, d.finish("an intent")
}
