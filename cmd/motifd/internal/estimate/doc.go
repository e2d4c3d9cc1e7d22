// Package estimate tells what queries cost, from a sample of updates that was stepped over twice: one update a batch,
// which tells what each one cost, and in batches, which tells what a daemon does.
//
// In: what a stream.Pipeline tells its Observer (Updates, Batches). Out: a Report, as JSON and as tables. The caller
// owns the pipelines; an observer belongs to one of them.
//
// Search time is that of the backend's clock, summed over threads, and search steps are candidates tried, as in
// motifd_query_search_seconds_total and motifd_query_search_steps_total.
package estimate
