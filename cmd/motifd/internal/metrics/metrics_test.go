package metrics

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
	"motifd/stream/checkpoint"
)

// TestP5MetricsAreDocumented holds that docs/metrics.md tells of every metric, and of no other.
func TestP5MetricsAreDocumented(t *testing.T) {
	documented := map[string]bool{}
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "metrics.md"))
	require.NoError(t, err)
	for line := range strings.Lines(string(page)) {
		if m := regexp.MustCompile("^\\| `(motifd_[a-z_]+)").FindStringSubmatch(line); m != nil {
			documented[m[1]] = true
		}
	}
	known := map[string]bool{}
	descs := make(chan *prometheus.Desc, 1000)
	New(Options{}).Registry.Describe(descs)
	close(descs)
	for d := range descs {
		name := regexp.MustCompile(`fqName: "([^"]+)"`).FindStringSubmatch(d.String())[1]
		if strings.HasPrefix(name, "motifd_") {
			known[name] = true
		}
	}
	require.Equal(t, known, documented)
}

// TestP5MetricsOfARemovedQuery holds that all metrics of a query go with it, whatever they are, and those of others
// stay. That a metric tells of a query at all is seen by its label.
func TestP5MetricsOfARemovedQuery(t *testing.T) {
	m := New(Options{Daemon: idle{}})
	step := func(b *stream.Batch, names ...string) {
		s := stream.StepStats{Batch: b, Summary: &matcher.Summary{}}
		for _, name := range names {
			s.Summary.Queries = append(s.Summary.Queries, matcher.QuerySummary{Query: &matcher.Query{Name: name},
				Positive: matcher.CountOf(3), Negative: matcher.CountOf(2), Truncated: true, Skipped: 1,
				Cause: matcher.CauseTime, Once: 4, SearchNS: 5, Steps: 6,
				Suspended: &matcher.Decision{Cause: matcher.CauseTime}})
			s.Records = append(s.Records, stream.RecordCount{Query: name, Sign: dyngraph.Inserted, Records: 3})
		}
		m.Step(s)
	}
	// of returns the metrics that tell of a query, by name.
	of := func(query string) (names []string) {
		families, err := m.Registry.Gather()
		require.NoError(t, err)
		for _, f := range families {
			for _, x := range f.GetMetric() {
				for _, l := range x.GetLabel() {
					if l.GetName() == "query" && l.GetValue() == query && !slices.Contains(names, f.GetName()) {
						names = append(names, f.GetName())
					}
				}
			}
		}
		return names
	}
	step(&stream.Batch{}, "gone", "stays")
	all := of("gone")
	descs := make(chan *prometheus.Desc, 1000)
	m.Registry.Describe(descs)
	close(descs)
	var labelled []string
	for d := range descs {
		name := labelledQuery.FindStringSubmatch(d.String())
		if name != nil && !slices.Contains(labelled, name[1]) {
			labelled = append(labelled, name[1])
		}
	}
	require.GreaterOrEqual(t, len(labelled), 8)
	require.ElementsMatch(t, labelled, all, "the step of this test moves all metrics of a query")
	removal := &stream.Batch{}
	removal.Change = &matcher.QueryChange{Remove: "gone"}
	step(removal)
	require.Empty(t, of("gone"))
	require.Equal(t, all, of("stays"))
	replaced := &stream.Batch{}
	replaced.Change = &matcher.QueryChange{Remove: "stays", Add: &matcher.Query{Name: "stays", Version: 2}}
	step(replaced)
	require.Equal(t, all, of("stays"), "a new version goes on counting")
}

// labelledQuery matches the description of a metric with the label query.
var labelledQuery = regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{(?:\w+,)*query\b`)

// idle is a daemon that has nothing to tell yet.
type idle struct{ Daemon }

func (idle) Ready() error                  { return nil }
func (idle) Pipeline() *stream.Pipeline    { return nil }
func (idle) Checkpoint() *checkpoint.Store { return nil }
func (idle) Waited() time.Duration         { return 0 }
