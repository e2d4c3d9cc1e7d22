package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"motifd/matcher"
	"motifd/stream"
	"motifd/stream/eventtime"
)

// Time says how event time goes on, where edges expire (graph.retention).
type Time struct {
	Lateness   Period   `yaml:"lateness"`    // of the watermark behind the greatest ts
	Idle       Duration `yaml:"idle"`        // after which a partition without records no longer holds it back
	MaxExpired int      `yaml:"max_expired"` // edges that expire in one batch
	Late       string   `yaml:"late"`        // drop or report
	MaxAhead   Period   `yaml:"max_ahead"`   // of ts before the record's time; 0: any
}

// What time.late does with an update that is late.
const (
	LateDrop   = "drop"   // it is counted
	LateReport = "report" // it is counted, and a dead letter
)

// Period is a Span that may be 0.
type Period Span

// UnmarshalText reads a period.
func (p *Period) UnmarshalText(text []byte) error {
	ms, ok := spanOf(strings.TrimSpace(string(text)))
	if !ok {
		return fmt.Errorf("%q is not a span of time; write 0, or %s, up to %s", text, spanForm, greatestSpan)
	}
	*p = Period(ms)
	return nil
}

// String writes the period: 0s, 24h, 1h30m.
func (p Period) String() string {
	if p == 0 {
		return "0s"
	}
	return Span(p).String()
}

// retention returns graph.retention by label.
func (g *Graph) retention() eventtime.Retention {
	var r eventtime.Retention
	for label, span := range g.Retention {
		r = append(r, eventtime.Keep{Label: label, For: int64(span)})
	}
	slices.SortFunc(r, func(a, b eventtime.Keep) int { return cmp.Compare(a.Label, b.Label) })
	return r
}

// RetentionWarnings says which negations of a query can end by expiry while the match that they block goes on.
func (g *Graph) RetentionWarnings(q *matcher.Query) []string {
	return matcher.RetentionWarnings(q, slices.Sorted(maps.Keys(g.Retention)), g.retention().Of)
}

// timeOptions returns what the pipeline is told of time.
func (c *Config) timeOptions() stream.TimeOptions {
	t := &c.Time
	o := stream.TimeOptions{
		Retention: c.Graph.retention(), Lateness: int64(t.Lateness), MaxExpired: t.MaxExpired,
		Idle:     max(t.Idle.Std(), 1), // 0 would stand for the default there
		Isolated: c.Graph.VertexExpiry == VertexExpiryIsolated,
	}
	if len(o.Retention) > 0 {
		o.ReportLate, o.MaxAhead = t.Late == LateReport, int64(t.MaxAhead)
	}
	return o
}

// time checks what is said of time.
func (v *validator) time() {
	t := &v.c.Time
	v.positive("time.max_expired", int64(t.MaxExpired))
	v.oneOf("time.late", t.Late, LateDrop, LateReport)
	v.oneOf("graph.vertex_expiry", v.c.Graph.VertexExpiry, VertexExpiryNone, VertexExpiryIsolated)
	if len(v.c.Graph.Retention) > 0 {
		return
	}
	for _, path := range []string{"time.lateness", "time.idle", "time.max_expired", "time.late", "time.max_ahead",
		"graph.vertex_expiry"} {
		if v.c.src.isSet(path) {
			v.fail(path, "goes with graph.retention, which is missing: no edge expires without it; write "+
				"graph.retention: {\"*\": 30d}, or leave %s out", path)
		}
	}
}

// ParseRetention reads LABEL=SPAN,... as graph.retention has it.
func ParseRetention(text string) (eventtime.Retention, error) {
	g := Graph{Retention: map[string]Span{}}
	for item := range strings.SplitSeq(text, ",") {
		label, span, ok := strings.Cut(strings.TrimSpace(item), "=")
		if !ok || label == "" {
			return nil, fmt.Errorf("%q is not LABEL=SPAN, as in TRANSFER=30d or *=90d", item)
		}
		if _, twice := g.Retention[label]; twice {
			return nil, fmt.Errorf("the label %q is given twice", label)
		}
		var s Span
		if err := s.UnmarshalText([]byte(span)); err != nil {
			return nil, fmt.Errorf("label %q: %w", label, err)
		}
		g.Retention[label] = s
	}
	return g.retention(), nil
}
