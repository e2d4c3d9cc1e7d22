//go:build cuda

package cuda_test

import (
	"fmt"

	"motifd/matcher/cuda/device"
)

// onDevice returns the milliseconds from the first begin on the device to the last end there.
func onDevice(spans []device.TraceSpan) float64 {
	var first, last int64
	for _, s := range spans {
		if s.Lane == device.LaneHost {
			continue
		}
		if last == 0 {
			first = s.Begin
		}
		first, last = min(first, s.Begin), max(last, s.End)
	}
	return float64(last-first) / 1e6
}

// totals returns the milliseconds spent in each kind of work.
func totals(spans []device.TraceSpan) map[string]float64 {
	ms := map[string]float64{}
	for _, s := range spans {
		ms[s.What] += float64(s.End-s.Begin) / 1e6
	}
	return ms
}

// printSpans prints a line for each span: what, which wave, from when to when in milliseconds.
func printSpans(spans []device.TraceSpan) {
	for _, s := range spans {
		fmt.Printf("wave %3d %-6s %9.3f to %9.3f ms\n", s.Wave, s.What, float64(s.Begin-spans[0].Begin)/1e6,
			float64(s.End-spans[0].Begin)/1e6)
	}
}
