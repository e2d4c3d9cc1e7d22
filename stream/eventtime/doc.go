// Package eventtime decides how far event time has come (DESIGN S20): the watermark of a batch, from the times of
// accepted updates of earlier batches, and the horizons before which edges expire.
//
// It is a plain state machine without clock and goroutine. What it decides goes into the intent of the batch; recovery
// and replay read it there and decide nothing. Which partitions are idle is decided by its caller, who has a clock.
//
// In: State (from the checkpoint), accepted updates, and which partitions are read. Out: watermarks and horizons.
package eventtime
