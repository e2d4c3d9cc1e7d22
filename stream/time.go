package stream

import (
	"context"
	"fmt"
	"slices"
	"time"

	"motifd/dyngraph"
	"motifd/stream/eventtime"
)

// DefaultMaxExpired is the default of TimeOptions.MaxExpired.
const DefaultMaxExpired = 100_000

// TimeOptions say how event time goes on and which edges expire (DESIGN S20). Without a Retention no edge does.
type TimeOptions struct {
	Retention eventtime.Retention
	// Lateness is the distance of the watermark from the greatest times, in milliseconds.
	Lateness int64
	// Idle is the time without a record after which a partition that is read to its end no longer holds the watermark
	// back. Default 1 m.
	Idle time.Duration
	// MaxExpired bounds the edges that expire in one batch; those of one time go together. Default
	// DefaultMaxExpired.
	MaxExpired int
	// Isolated removes vertices without edges that no +v declared.
	Isolated bool
	// ReportLate makes a dead letter of each update that is late. Its message is accepted all the same.
	ReportLate bool
	// MaxAhead bounds how far the time of an update may be ahead of its record's, in milliseconds; messages beyond it
	// are refused. 0 is no bound. A record without a time has none.
	MaxAhead int64
}

// EnsureDefaults replaces zero values by the defaults.
func (o *TimeOptions) EnsureDefaults() {
	if o.Idle == 0 {
		o.Idle = time.Minute
	}
	if o.MaxExpired == 0 {
		o.MaxExpired = DefaultMaxExpired
	}
}

// Validate checks the options after EnsureDefaults.
func (o *TimeOptions) Validate() error {
	switch {
	case o.Lateness < 0:
		return fmt.Errorf("the lateness is %d ms; it must not be negative", o.Lateness)
	case o.Idle < 0:
		return fmt.Errorf("the time after which a partition is idle is %s; it must not be negative", o.Idle)
	case o.MaxExpired < 1:
		return fmt.Errorf("the limit on edges that expire in a batch is %d; it must be at least 1", o.MaxExpired)
	case o.MaxAhead < 0:
		return fmt.Errorf("the limit on times ahead is %d ms; it must not be negative", o.MaxAhead)
	}
	for _, k := range o.Retention {
		if k.For < 1 {
			return fmt.Errorf("the retention of label %q is %d ms; it must be at least 1", k.Label, k.For)
		}
	}
	return nil
}

// Reasons of dead letters that are about time.
const (
	ReasonLate    = "late"     // the time lies before the horizon; the rest of the message counts
	ReasonTSAhead = "ts_ahead" // the time lies ahead of the record's
)

// eventTime is the event time as the engine's goroutine knows it.
type eventTime struct {
	state eventtime.State
	// partitioned tells that the source reads partitions concurrently. Else they follow each other, and count as one.
	partitioned bool
	arrivals    arrivals
}

// arrivals tells when a record of each partition was taken last.
type arrivals struct {
	last  map[int32]time.Time
	began time.Time // when reading began, for partitions without a record
}

// idleness tells of each partition that is read whether it is idle: it has no lag, and no record came for a while.
// One whose lag is not known is not idle.
func (a *arrivals) idleness(at Positions, lag map[int32]int64, now time.Time, after time.Duration) map[int32]bool {
	idle := make(map[int32]bool, len(at))
	for id := range at {
		idle[id] = false
	}
	for id, behind := range lag {
		since, ok := a.last[id]
		if !ok {
			since = a.began
		}
		idle[id] = behind == 0 && now.Sub(since) >= after
	}
	return idle
}

// partition returns the partition of an update, for watermarks.
func (t *eventTime) partition(u *dyngraph.Update) int32 {
	if t.partitioned {
		return u.Pos.Partition
	}
	return 0
}

// saw notes that a record was taken.
func (t *eventTime) saw(r *Record, now time.Time) {
	if t.partitioned && t.state.Active() {
		t.arrivals.last[r.Partition] = now
	}
}

// lag returns how far positions are behind the end of the input; nil when the source cannot tell.
func (p *Pipeline) lag(at Positions) map[int32]int64 {
	if l, ok := p.opt.Source.(Lagger); ok {
		return l.Lag(at)
	}
	return nil
}

// nextHorizons returns the watermark that the next batch may have and the horizons that go with it.
func (p *Pipeline) nextHorizons() (eventtime.Watermark, []dyngraph.Horizon) {
	t := &p.time
	var idle map[int32]bool
	if t.partitioned {
		idle = t.arrivals.idleness(p.positions, p.lag(p.positions), time.Now(), p.opt.Time.Idle)
	}
	w := t.state.Next(idle, p.opt.Time.Lateness)
	return w, t.state.Reach(w)
}

// planExpiry fixes the watermark and horizons of the next batch before it is accepted; none when no edge expires.
func (p *Pipeline) planExpiry() (b Batch) {
	if !p.time.state.Active() {
		return b
	}
	w, to := p.nextHorizons()
	b.Time, b.Isolated = &eventtime.Cut{Watermark: w}, p.opt.Time.Isolated
	b.Horizons = p.opt.Engine.Graph().Approach(to, p.opt.Time.MaxExpired)
	return b
}

// expiryDue tells whether edges would expire in a batch without updates.
func (p *Pipeline) expiryDue() bool {
	if !p.time.state.Active() {
		return false
	}
	_, to := p.nextHorizons()
	return p.opt.Engine.Graph().Expiring(to)
}

// ticks steps batches without updates until no expiry is due: the input has ended.
func (p *Pipeline) ticks(drainCtx, abortCtx context.Context) error {
	for drainCtx.Err() == nil && p.expiryDue() {
		if err := p.newBatch(abortCtx, &Batch{}, origin{}); err != nil {
			return err
		}
	}
	return nil
}

// changeRetention makes a batch of the configured retention, when it is another one than the stored.
func (p *Pipeline) changeRetention(abortCtx context.Context) error {
	t := &p.time.state
	if p.opt.Log != nil || slices.Equal(t.Retention, p.opt.Time.Retention) {
		return nil
	}
	b := &Batch{}
	b.Time, b.Horizons = t.Change(p.opt.Time.Retention)
	return p.newBatch(abortCtx, b, origin{})
}

// late returns the dead letters of the late updates of an accepted message, in order.
func (p *Pipeline) late(d *Decoded) (letters []DeadLetter) {
	if !p.opt.Time.ReportLate || !p.time.state.Active() {
		return nil
	}
	g := p.opt.Engine.Graph()
	for i := range d.Updates {
		u := &d.Updates[i]
		if !g.Late(u) {
			continue
		}
		element := -1
		if len(d.Updates) > 1 {
			element = int(u.Pos.Element)
		}
		err := fmt.Errorf("ts %d of an edge %q lies before its horizon: edges of that time have expired; the update "+
			"has no effect; raise time.lateness (--lateness) if such updates are to count", u.Attr.TS, u.Label)
		letters = append(letters, p.deadLetter(d, element, ReasonLate, err))
	}
	return letters
}

// ahead refuses updates whose time lies too far ahead of their record's: one wrong clock would expire the graph.
func (p *Pipeline) ahead(rec *Record, updates []dyngraph.Update) error {
	if p.opt.Time.MaxAhead == 0 || rec.Time.IsZero() {
		return nil
	}
	at := rec.Time.UnixMilli()
	for i := range updates {
		u := &updates[i]
		if !u.Attr.HasTS || u.Attr.TS <= at || uint64(u.Attr.TS)-uint64(at) <= uint64(p.opt.Time.MaxAhead) {
			continue
		}
		element := -1
		if len(updates) > 1 {
			element = int(u.Pos.Element)
		}
		return &DecodeError{Reason: ReasonTSAhead, Element: element, Msg: fmt.Sprintf("ts %d lies %d ms ahead of the "+
			"record's time %d; time.max_ahead allows %d ms", u.Attr.TS, uint64(u.Attr.TS)-uint64(at), at,
			p.opt.Time.MaxAhead)}
	}
	return nil
}
