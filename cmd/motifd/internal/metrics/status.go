package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"motifd/stream"
)

// statusCollector makes metrics of the daemon's status at each scrape.
type statusCollector struct{ daemon Daemon }

func describeMetric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("motifd_"+name, help, labels, nil)
}

var (
	descReady    = describeMetric("ready", "1 when input is being taken, else 0.")
	descVertices = describeMetric("graph_vertices", "Vertices in the graph.")
	descEdges    = describeMetric("graph_edges", "Edges in the graph.")
	descBatch    = describeMetric("batch", "Number of the last committed batch.")
	descInFlight = describeMetric("batches_in_flight", "Batches begun and not committed.")
	descRecords  = describeMetric("queue_records", "Decoded records that wait for the engine.")
	descBytes    = describeMetric("queue_bytes", "Memory of decoded records that wait for the engine, estimated.")
	descPublish  = describeMetric("publish_queue_bytes", "Encoded records that wait for the output.")
	descPosition = describeMetric("input_position", "Where reading goes on after the last committed batch.",
		"partition")
	descLag = describeMetric("input_lag", "Offsets of the Kafka input behind the last committed batch.",
		"partition")
	descWatermark = describeMetric("watermark_seconds",
		"Watermark of the last batch: how far event time has come, in seconds since the epoch.")
	descHorizon = describeMetric("horizon_seconds",
		"Time before which the edges of a label have expired, in seconds since the epoch.", "label")
	descPartitionTime = describeMetric("partition_time_seconds",
		"Greatest time of the accepted updates of a partition, in seconds since the epoch; its state says whether the "+
			"watermark follows it.", "partition", "state")
	descBehind = describeMetric("partition_time_behind_seconds",
		"Greatest time of all partitions, less that of this partition, in seconds.", "partition")
	descExpired = describeMetric("expired_edges_total", "Edges that have expired.")
	descLate    = describeMetric("late_updates_total", "Updates without effect, as their time lay before the horizon.")

	descWaiting = describeMetric("kafka_waiting_seconds",
		"Longest time that a current operation has waited for brokers; 0 when none.")
	descStep = describeMetric("step_running_seconds",
		"Time that the current batch or query change has taken; 0 when idle.")
	descQueries = describeMetric("queries", "Registered queries.", "state")
	descDisk    = describeMetric("checkpoint_disk_bytes", "Size of the checkpoint on disk at its last write.")
	descLimit   = describeMetric("checkpoint_disk_limit_bytes", "Maximum size of the checkpoint on disk.")
	descRoom    = describeMetric("checkpoint_wait_seconds_total",
		"Time for which writes to the checkpoint waited until its tables were merged.")
)

// Describe implements prometheus.Collector.
func (c *statusCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		descReady, descVertices, descEdges, descBatch, descInFlight, descRecords, descBytes, descPublish,
		descPosition, descLag, descQueries, descWaiting, descStep, descDisk, descLimit, descRoom,
		descWatermark, descHorizon, descPartitionTime, descBehind, descExpired, descLate,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *statusCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(descWaiting, c.daemon.Waited().Seconds())
	if store := c.daemon.Checkpoint(); store != nil {
		use := store.DiskUse()
		gauge(descDisk, float64(use.Bytes))
		gauge(descLimit, float64(use.Limit))
		ch <- prometheus.MustNewConstMetric(descRoom, prometheus.CounterValue, use.Waited.Seconds())
	}
	p := c.daemon.Pipeline()
	if p == nil {
		gauge(descReady, 0)
		return
	}
	isReady := 0.0
	if c.daemon.Ready() == nil {
		isReady = 1
	}
	s := p.Status()
	running := 0.0
	if s.Step != nil {
		running = s.Step.Seconds
	}
	gauge(descStep, running)
	gauge(descReady, isReady)
	gauge(descVertices, float64(s.Vertices))
	gauge(descEdges, float64(s.Edges))
	gauge(descBatch, float64(s.Batch))
	gauge(descInFlight, float64(s.InFlight))
	gauge(descRecords, float64(s.QueueRecords))
	gauge(descBytes, float64(s.QueueBytes))
	gauge(descPublish, float64(s.PublishBytes))
	suspended := 0
	for _, q := range s.Queries {
		if q.Suspended {
			suspended++
		}
	}
	gauge(descQueries, float64(len(s.Queries)-suspended), "active")
	gauge(descQueries, float64(suspended), "suspended")
	for partition, next := range s.Positions {
		gauge(descPosition, float64(next), strconv.Itoa(int(partition)))
	}
	for partition, lag := range s.Lag {
		gauge(descLag, float64(lag), strconv.Itoa(int(partition)))
	}
	if s.Time != nil {
		collectTime(s.Time, ch, gauge)
	}
}

// collectTime tells of event time.
func collectTime(t *stream.TimeStatus, ch chan<- prometheus.Metric, gauge func(*prometheus.Desc, float64, ...string)) {
	seconds := func(ms int64) float64 { return float64(ms) / 1e3 }
	if t.Watermark != nil {
		gauge(descWatermark, seconds(*t.Watermark))
	}
	for label, before := range t.Horizons {
		gauge(descHorizon, seconds(before), label)
	}
	for id, p := range t.Partitions {
		partition := strconv.Itoa(int(id))
		if p.Greatest != nil {
			gauge(descPartitionTime, seconds(*p.Greatest), partition, string(p.State))
			gauge(descBehind, seconds(p.Behind), partition)
		}
	}
	ch <- prometheus.MustNewConstMetric(descExpired, prometheus.CounterValue, float64(t.Expired))
	ch <- prometheus.MustNewConstMetric(descLate, prometheus.CounterValue, float64(t.Late))
}
