package metrics

import (
	"math/big"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"motifd/matcher"
	"motifd/stream"
	"motifd/stream/checkpoint"
	"motifd/stream/kafka"
	"motifd/stream/kafka/publish"
)

// Daemon is the part of the daemon that the metrics read at each scrape. Its methods are safe for concurrent use.
type Daemon interface {
	// Ready returns nil, or why the daemon takes no input at present.
	Ready() error
	// Pipeline returns nil until there is one.
	Pipeline() *stream.Pipeline
	// Checkpoint returns nil until it is open.
	Checkpoint() *checkpoint.Store
	// Waited is the longest time that a current operation has waited for brokers; 0 when none waits.
	Waited() time.Duration
}

// Options configure Metrics.
type Options struct {
	Version  string
	MaxEdges uint64 // graph.max_edges
	Daemon   Daemon
}

// Metrics are the daemon's Prometheus metrics; docs/metrics.md describes each. It is a stream.Observer, and safe for
// concurrent use.
type Metrics struct {
	// Registry has all metrics, those of the Go runtime and of the process included.
	Registry *prometheus.Registry

	records, updates, bytes, readSeconds *prometheus.CounterVec
	deadLetters                          *prometheus.CounterVec

	batches, committed   *prometheus.CounterVec
	batchUpdates         prometheus.Histogram
	stepSeconds          *prometheus.HistogramVec
	netEdges, revisions  *prometheus.CounterVec
	unnamed              prometheus.Counter
	matches, outRecords  *prometheus.CounterVec
	truncated, suspended *prometheus.CounterVec
	skipped              *prometheus.CounterVec
	once                 *prometheus.CounterVec
	searchSeconds, steps *prometheus.CounterVec
	byQuery              []*prometheus.CounterVec // those with the label query

	intentWait                             prometheus.Histogram
	publishSeconds, commitSeconds, latency prometheus.Histogram
	inputTime                              prometheus.Gauge
	backend, gpus                          *prometheus.GaugeVec
	placements, placementSeconds           *prometheus.CounterVec

	retries          *prometheus.CounterVec
	lost, duplicates *prometheus.CounterVec
	transactions     *prometheus.GaugeVec
}

var _ stream.Observer = (*Metrics)(nil)

// seconds are the buckets of durations: 100 us to 52 s.
var seconds = prometheus.ExponentialBuckets(0.0001, 2, 20)

// New returns the metrics of a daemon that has done nothing yet.
func New(opt Options) *Metrics {
	m := &Metrics{Registry: prometheus.NewRegistry()}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "motifd_" + name, Help: help}, labels)
		m.Registry.MustRegister(c)
		if slices.Contains(labels, "query") {
			m.byQuery = append(m.byQuery, c)
		}
		return c
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "motifd_" + name, Help: help, Buckets: buckets})
		m.Registry.MustRegister(h)
		return h
	}
	m.records = counter("input_records_total", "Input records read.")
	m.updates = counter("input_updates_total", "Updates decoded from input records.")
	m.bytes = counter("input_bytes_total", "Bytes of keys and values of input records.")
	m.readSeconds = counter("read_seconds_total",
		"Time of the reader: waiting for input (read), decoding (decode), waiting for room in the queue (wait).",
		"stage")
	m.deadLetters = counter("dead_letters_total", "Input records refused, or with late updates.", "reason")

	m.batches = counter("batches_total", "Batches searched; kind is input, change or recovered.", "kind")
	m.committed = counter("batches_committed_total", "Batches published and committed.")
	m.batchUpdates = histogram("batch_updates", "Accepted updates per batch.", prometheus.ExponentialBuckets(1, 4, 12))
	m.stepSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "motifd_step_seconds", Help: "Time of a batch in the engine's goroutine by stage: accept, intent, " +
			"slot (waiting for earlier batches), step (search and all below), encode, publish (waiting for room to " +
			"the sink).",
		Buckets: seconds,
	}, []string{"stage"})
	m.Registry.MustRegister(m.stepSeconds)
	m.netEdges = counter("net_edges_total", "Edges inserted (+) or deleted (-), by net effect.", "sign")
	m.revisions = counter("vertex_revisions_total", "Vertices whose declared values a batch changed (revised), and "+
		"operations =v on vertices that were not there (absent).", "effect")
	m.unnamed = counter("deletions_without_id_total",
		"Deletions without id that found only edges with ids, and had no effect.").WithLabelValues()
	m.matches = counter("matches_total", "Matches that appeared (+) or disappeared (-).", "query", "sign")
	m.outRecords = counter("output_records_total", "Output records; snapshot tells those of registration.", "query",
		"sign", "snapshot")
	m.truncated = counter("query_truncated_batches_total", "Batches in which max_matches_per_batch was reached.",
		"query")
	m.suspended = counter("query_suspensions_total", "Times that the query exceeded a limit and was suspended.",
		"query")
	m.skipped = counter("query_skipped_total",
		"Groups of matches, or counts, that were left out since they were beyond a limit.", "query", "limit")
	m.once = counter("query_once_dropped_total", "Positives that the query's once dropped.", "query")
	m.searchSeconds = counter("query_search_seconds_total", "Search time, summed over threads.", "query")
	m.steps = counter("query_search_steps_total", "Search steps: candidates tried.", "query")

	m.placements = counter("placements_total",
		"Searches that backend auto placed on a side, cpu or gpu, by kind of work and reason.", "work", "side",
		"reason")
	m.placementSeconds = counter("placement_seconds_total", "Time of these searches.", "work", "side")

	m.intentWait = histogram("intent_wait_seconds",
		"Time for which the output of a batch waited until the batch was logged.", seconds)
	m.publishSeconds = histogram("publish_seconds", "Time of writing a batch to the output.", seconds)
	m.commitSeconds = histogram("commit_seconds", "Time of committing a batch to the checkpoint.", seconds)
	m.latency = histogram("batch_latency_seconds", "From the read of a batch's first message to its commit.", seconds)
	m.inputTime = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "motifd_input_time_seconds",
		Help: "Latest record timestamp in the last committed batch, in seconds since the epoch.",
	})
	m.retries = counter("kafka_retries_total", "Requests to Kafka that failed and were tried again.", "op")
	m.lost = counter("kafka_lost_records_total",
		"Input records that were gone before they were read (on_data_loss: continue).")
	m.duplicates = counter("kafka_duplicate_records_total",
		"Output records that were probably published more than once.", "topic")

	m.transactions = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "motifd_kafka_transactions_info",
		Help: "1, with whether the output is published in transactions (on or off) as a label."},
		[]string{"transactions"})
	build := prometheus.NewGaugeVec(
		prometheus.GaugeOpts{Name: "motifd_build_info", Help: "1, with the version as a label."},
		[]string{"version", "go"})
	build.WithLabelValues(opt.Version, runtime.Version()).Set(1)
	limit := prometheus.NewGauge(prometheus.GaugeOpts{Name: "motifd_graph_max_edges",
		Help: "graph.max_edges; 0 is no limit."})
	limit.Set(float64(opt.MaxEdges))
	m.backend = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "motifd_backend_info",
		Help: "1, with what searches, its threads and its GPU as labels."}, []string{"backend", "threads", "device"})
	m.gpus = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "motifd_gpu_used",
		Help: "1 while a GPU is used, 0 since it failed."}, []string{"device", "name"})
	m.Registry.MustRegister(m.backend, m.gpus, m.transactions, m.inputTime, build, limit, &statusCollector{opt.Daemon},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	// Counters without labels are there from the start, with 0.
	for _, c := range []*prometheus.CounterVec{m.records, m.updates, m.bytes, m.committed, m.lost} {
		c.WithLabelValues()
	}
	return m
}

// Searches sets what searches from now on.
func (m *Metrics) Searches(backend string, threads int, device string) {
	m.backend.Reset()
	m.backend.WithLabelValues(backend, strconv.Itoa(threads), device).Set(1)
}

// GPU tells whether a GPU is used.
func (m *Metrics) GPU(number int, name string, used bool) {
	value := 0.0
	if used {
		value = 1
	}
	m.gpus.WithLabelValues(strconv.Itoa(number), name).Set(value)
}

// Placed counts a search that backend auto placed on a side.
func (m *Metrics) Placed(work, side, reason string, took time.Duration) {
	m.placements.WithLabelValues(work, side, reason).Inc()
	m.placementSeconds.WithLabelValues(work, side).Add(took.Seconds())
}

// Read implements stream.Observer.
func (m *Metrics) Read(s stream.ReadStats) {
	m.records.WithLabelValues().Add(float64(s.Records))
	m.updates.WithLabelValues().Add(float64(s.Updates))
	m.bytes.WithLabelValues().Add(float64(s.Bytes))
	m.readSeconds.WithLabelValues("read").Add(s.Read.Seconds())
	m.readSeconds.WithLabelValues("decode").Add(s.Decode.Seconds())
	m.readSeconds.WithLabelValues("wait").Add(s.Wait.Seconds())
}

// Step implements stream.Observer.
func (m *Metrics) Step(s stream.StepStats) {
	kind := "input"
	switch {
	case s.Recovered:
		kind = "recovered"
	case s.Batch.Change != nil:
		kind = "change"
	}
	m.batches.WithLabelValues(kind).Inc()
	m.batchUpdates.Observe(float64(len(s.Batch.Updates)))
	for _, d := range s.Batch.DeadLetters {
		m.deadLetters.WithLabelValues(d.Reason).Inc()
	}
	m.stepSeconds.WithLabelValues("accept").Observe(s.Accept.Seconds())
	m.stepSeconds.WithLabelValues("intent").Observe(s.Intent.Seconds())
	m.stepSeconds.WithLabelValues("slot").Observe(s.Slot.Seconds())
	m.stepSeconds.WithLabelValues("step").Observe(s.Step.Seconds())
	m.stepSeconds.WithLabelValues("encode").Observe(s.Encode.Seconds())
	m.stepSeconds.WithLabelValues("publish").Observe(s.Publish.Seconds())
	m.netEdges.WithLabelValues("+").Add(float64(s.Summary.NetInserted))
	m.netEdges.WithLabelValues("-").Add(float64(s.Summary.NetDeleted))
	m.revisions.WithLabelValues("revised").Add(float64(s.Summary.Revised))
	m.revisions.WithLabelValues("absent").Add(float64(s.Summary.Absent))
	m.unnamed.Add(float64(s.Summary.Unnamed))
	for i := range s.Summary.Queries {
		m.query(&s.Summary.Queries[i])
	}
	for _, r := range s.Records {
		m.outRecords.WithLabelValues(r.Query, r.Sign.String(), strconv.FormatBool(r.Snapshot)).Add(float64(r.Records))
	}
	if ch := s.Batch.Change; ch != nil && ch.Add == nil {
		for _, c := range m.byQuery {
			c.DeletePartialMatch(prometheus.Labels{"query": ch.Remove})
		}
	}
}

func (m *Metrics) query(q *matcher.QuerySummary) {
	name := q.Query.Name
	if !q.Snapshot {
		m.matches.WithLabelValues(name, "+").Add(float(q.Positive))
		m.matches.WithLabelValues(name, "-").Add(float(q.Negative))
		if q.Query.EmitsChanges() {
			m.matches.WithLabelValues(name, "~").Add(float(q.Changed))
		}
	}
	if q.Truncated {
		m.truncated.WithLabelValues(name).Inc()
	}
	if q.Suspended != nil {
		m.suspended.WithLabelValues(name).Inc()
	}
	if q.Skipped > 0 {
		m.skipped.WithLabelValues(name, q.Cause.String()).Add(float64(q.Skipped))
	}
	if q.Once > 0 {
		m.once.WithLabelValues(name).Add(float64(q.Once))
	}
	m.searchSeconds.WithLabelValues(name).Add(float64(q.SearchNS) / 1e9)
	m.steps.WithLabelValues(name).Add(float64(q.Steps))
}

// float returns the nearest floating-point number.
func float(c matcher.Count) float64 {
	f, _ := new(big.Float).SetInt(c.Big()).Float64()
	return f
}

// Span implements stream.Observer: what the metrics tell of is in the sums.
func (m *Metrics) Span(stream.Span) {}

// Commit implements stream.Observer.
func (m *Metrics) Commit(s stream.CommitStats) {
	m.committed.WithLabelValues().Inc()
	m.intentWait.Observe(s.Intent.Seconds())
	m.publishSeconds.Observe(s.Publish.Seconds())
	m.commitSeconds.Observe(s.Commit.Seconds())
	if s.Latency > 0 {
		m.latency.Observe(s.Latency.Seconds())
	}
	if !s.InputTime.IsZero() {
		m.inputTime.Set(float64(s.InputTime.UnixMilli()) / 1e3)
	}
}

// Events returns functions that count the events of the Kafka client.
func (m *Metrics) Events() kafka.Events {
	return kafka.Events{
		Retry: func(op, _ string, _ int32, _ int, _ error) { m.retries.WithLabelValues(op).Inc() },
		Loss:  func(_ int32, from, to int64) { m.lost.WithLabelValues().Add(float64(to - from)) },
		Duplicates: func(topic string, _ int32, n int64) {
			m.duplicates.WithLabelValues(topic).Add(float64(n))
		},
		Transactions: func(on bool) {
			mode := publish.TransactionsOff
			if on {
				mode = publish.TransactionsOn
			}
			m.transactions.WithLabelValues(mode).Set(1)
		},
	}
}
