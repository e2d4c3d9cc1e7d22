package checkpoint

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"math/big"
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/stream"
)

// done is the last part of a log entry: the results of the batch, and the data that undoing it needs beside the effect.
type done struct {
	effect dyngraph.Effect
	report *stream.BatchReport
	// Before-images: positions, digests of the content, and the queries when the batch changed them.
	positions      stream.Positions
	digests        digests
	queriesChanged bool
	queries        []matcher.QueryState
	// once lists the batch's changes of the keys that queries with once remember.
	once []matcher.OnceChange
	// declared is set where the batch is a step of a change of the declared properties.
	declared *declaredBefore
}

// declaredBefore holds the declarations before a batch, and the last step of a change that was not done.
type declaredBefore struct {
	Schema *property.Schema       `json:"schema,omitempty"`
	Step   *dyngraph.Declaration  `json:"step,omitempty"`
	Report *stream.DeclaredReport `json:"report"`
}

func appendJSON(b []byte, v any) ([]byte, error) {
	js, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return appendString(b, js), nil
}

func (d *decoder) json(v any) error {
	js := d.raw()
	if d.bad {
		return nil // finish tells
	}
	return json.Unmarshal(js, v)
}

func appendQueries(b []byte, qs []matcher.QueryState) ([]byte, error) {
	js, err := json.Marshal(qs)
	if err != nil {
		return nil, err
	}
	return appendString(b, js), nil
}

func (d *decoder) queries() ([]matcher.QueryState, error) {
	js := d.raw()
	if d.bad {
		return nil, nil // finish tells
	}
	var qs []matcher.QueryState
	if err := json.Unmarshal(js, &qs); err != nil {
		return nil, damaged("the queries: %v", err)
	}
	for i := range qs {
		if qs[i].Query == nil {
			return nil, damaged("the queries: entry %d holds no query", i)
		}
	}
	return qs, nil
}

func appendDone(b []byte, o *done) ([]byte, error) {
	b = appendEffect(b, &o.effect)
	b = appendBool(b, o.report != nil)
	if o.report != nil {
		b = appendReport(b, o.report)
	}
	b = appendPositions(b, o.positions)
	b = o.digests.append(b)
	b = appendBool(b, o.queriesChanged)
	if o.queriesChanged {
		var err error
		if b, err = appendQueries(b, o.queries); err != nil {
			return nil, err
		}
	}
	if o.declared != nil {
		return appendJSON(appendVertices(b, o.effect.Declared), o.declared)
	}
	if o.hasOnce() || o.hasChanged() {
		b = appendBool(b, o.hasTime())
	}
	if o.hasTime() {
		b = appendVertices(appendTimeReport(b, o.report.Time), o.effect.Declared)
	}
	if o.hasOnce() || o.hasChanged() {
		b = appendOnce(b, o.once)
	}
	return b, nil
}

// version is the first byte of the value.
func (o *done) version() byte {
	if o.declared != nil {
		return declareVersion
	}
	if o.hasChanged() {
		return changedVersion
	}
	if o.hasOnce() {
		return onceVersion
	}
	return versionOf(o.hasTime())
}

// hasTime tells that the value has timeVersion.
func (o *done) hasTime() bool { return o.report != nil && o.report.Time != nil }

// hasOnce tells that the value has onceVersion.
func (o *done) hasOnce() bool {
	return len(o.once) > 0 || o.report != nil &&
		slices.ContainsFunc(o.report.Queries, func(q stream.QueryReport) bool { return q.Once > 0 })
}

// hasChanged tells that the value has changedVersion.
func (o *done) hasChanged() bool { return o.report != nil && hasChanged(o.report) }

func hasChanged(r *stream.BatchReport) bool {
	return slices.ContainsFunc(r.Queries, func(q stream.QueryReport) bool { return !q.Changed.IsZero() })
}

func (d *decoder) done() (*done, error) {
	o := &done{effect: d.effect()}
	if d.bool() {
		o.report = d.report()
	}
	o.positions = d.positions()
	o.digests = d.digests()
	if o.queriesChanged = d.bool(); o.queriesChanged {
		var err error
		if o.queries, err = d.queries(); err != nil {
			return nil, err
		}
	}
	switch {
	case d.version >= timeVersion && o.report == nil:
		return nil, damaged("a batch of version %d has no report", d.version)
	case d.version == timeVersion:
		o.report.Time = d.timeReport()
		o.effect.Declared = d.vertices()
	case d.version == declareVersion:
		o.effect.Declared = d.vertices()
		o.declared = new(declaredBefore)
		if err := d.json(o.declared); err != nil {
			return nil, damaged("the declared properties before a batch: %v", err)
		}
		o.report.Properties = o.declared.Report
	case d.version == onceVersion, d.version == changedVersion:
		if d.bool() {
			o.report.Time = d.timeReport()
			o.effect.Declared = d.vertices()
		}
		if o.once = d.once(); o.version() != d.version {
			d.fail()
		}
	}
	return o, d.finish("a committed batch")
}

// The bits of a query report.
const (
	reportTruncated = 1 << iota
	reportSuspended
	reportSnapshot
	reportWide
	reportLimits // a limit left something out: what follows at the end
	reportNoPositive
	reportNoNegative
	reportOnce // positives that once dropped: their number follows at the end; with changedVersion, changes too
)

func appendCount(b []byte, c matcher.Count) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, c.Hi), c.Lo)
}

func (d *decoder) matches() matcher.Count { return matcher.Count{Hi: d.uvarint(), Lo: d.uvarint()} }

// wide reports whether a count has more than 128 bits. It follows as a string then, and its narrow place holds 0.
func wide(c matcher.Count) bool { return matcher.MaxCount.Cmp(c) < 0 }

func appendWide(b []byte, c matcher.Count) []byte {
	if !wide(c) {
		return appendString(b, "")
	}
	return appendString(b, string(c.Big().Bytes()))
}

func (d *decoder) wide(c *matcher.Count) (found bool) {
	s := d.string()
	if s == "" {
		return false
	}
	n := matcher.CountOfBig(new(big.Int).SetBytes([]byte(s)))
	if !wide(n) || s[0] == 0 || !c.IsZero() {
		d.fail()
	}
	*c = n
	return true
}

func appendReport(b []byte, r *stream.BatchReport) []byte {
	b = appendString(b, r.Stream)
	b = binary.AppendUvarint(b, r.Batch)
	for _, n := range [...]int{r.Messages, r.Updates, r.Inserted, r.Deleted, r.DeadLetters} {
		b = binary.AppendVarint(b, int64(n))
	}
	b = binary.AppendUvarint(b, r.Records)
	b = binary.AppendUvarint(b, uint64(len(r.Positions)))
	for _, p := range slices.Sorted(maps.Keys(r.Positions)) {
		b = binary.AppendVarint(appendString(b, p), r.Positions[p])
	}
	b = appendBool(b, r.Change != nil)
	if c := r.Change; c != nil {
		b = binary.AppendUvarint(appendString(appendString(b, c.Op), c.Query), c.Version)
	}
	b = binary.AppendUvarint(b, uint64(len(r.Queries)))
	changed := hasChanged(r)
	for i := range r.Queries {
		q := &r.Queries[i]
		b = binary.AppendUvarint(appendString(b, q.Query), q.Version)
		b = appendCount(appendCount(b, q.Positive.Count), q.Negative.Count)
		var flags byte
		if q.Truncated {
			flags |= reportTruncated
		}
		if q.Suspended {
			flags |= reportSuspended
		}
		if q.Snapshot {
			flags |= reportSnapshot
		}
		if q.Positive.Unknown {
			flags |= reportNoPositive
		}
		if q.Negative.Unknown {
			flags |= reportNoNegative
		}
		if q.Skipped > 0 || q.Limit != "" || q.LossySince > 0 {
			flags |= reportLimits
		}
		if q.Once > 0 || !q.Changed.IsZero() {
			flags |= reportOnce
		}
		if wide(q.Positive.Count) || wide(q.Negative.Count) {
			b = appendWide(appendWide(append(b, flags|reportWide), q.Positive.Count), q.Negative.Count)
		} else {
			b = append(b, flags)
		}
		if flags&reportLimits != 0 {
			b = binary.AppendUvarint(appendString(binary.AppendUvarint(b, q.Skipped), q.Limit), q.LossySince)
		}
		if flags&reportOnce != 0 {
			if b = binary.AppendUvarint(b, q.Once); changed {
				b = appendCount(b, q.Changed)
			}
		}
	}
	return b
}

func (d *decoder) report() *stream.BatchReport {
	r := &stream.BatchReport{Stream: d.string(), Batch: d.uvarint()}
	for _, n := range [...]*int{&r.Messages, &r.Updates, &r.Inserted, &r.Deleted, &r.DeadLetters} {
		*n = int(d.varint())
	}
	r.Records = d.uvarint()
	if n := d.count(2); n > 0 {
		r.Positions = make(map[string]int64, n)
		for range n {
			p := d.string()
			r.Positions[p] = d.varint()
		}
		if len(r.Positions) != n {
			d.fail()
		}
	}
	if d.bool() {
		r.Change = &stream.ChangeReport{Op: d.string(), Query: d.string(), Version: d.uvarint()}
	}
	if n := d.count(7); n > 0 {
		r.Queries = make([]stream.QueryReport, n)
		for i := range r.Queries {
			q := &r.Queries[i]
			q.Query, q.Version = d.string(), d.uvarint()
			q.Positive.Count, q.Negative.Count = d.matches(), d.matches()
			flags := d.byte()
			if flags&reportOnce != 0 && d.version < onceVersion || d.version == 1 && flags > reportWide<<1-1 {
				d.fail()
			}
			q.Positive.Unknown, q.Negative.Unknown = flags&reportNoPositive != 0, flags&reportNoNegative != 0
			q.Truncated = flags&reportTruncated != 0
			q.Suspended = flags&reportSuspended != 0
			q.Snapshot = flags&reportSnapshot != 0
			if flags&reportWide != 0 {
				p, n := d.wide(&q.Positive.Count), d.wide(&q.Negative.Count)
				if !p && !n {
					d.fail()
				}
			}
			if flags&reportLimits != 0 {
				q.Skipped, q.Limit, q.LossySince = d.uvarint(), d.string(), d.uvarint()
				if q.Skipped == 0 && q.Limit == "" && q.LossySince == 0 {
					d.fail()
				}
			}
			if flags&reportOnce != 0 {
				if q.Once = d.uvarint(); d.version == changedVersion {
					q.Changed = d.matches()
				}
				if q.Once == 0 && q.Changed.IsZero() {
					d.fail()
				}
			}
		}
	}
	return r
}
