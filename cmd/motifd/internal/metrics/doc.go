// Package metrics holds the Prometheus metrics of the daemon.
//
// In: what the pipeline reports of each read, batch and commit (stream.Observer), the events of the Kafka client, and
// the placement of searches; at each scrape, the daemon's status (Daemon). Out: a registry. docs/metrics.md describes
// each metric, and tests hold the two together.
package metrics
