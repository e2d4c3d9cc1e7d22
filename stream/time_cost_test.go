//go:build unix

package stream_test

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkS20Expiry plays a day in which each payment has one expire, and a day in which an update deletes it, by
// turns, through pipelines with a checkpoint. It prints the processor time of a payment of each, and the median ratio.
func BenchmarkS20Expiry(b *testing.B) {
	const perHour = 5000
	used := func() time.Duration {
		var u syscall.Rusage
		require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	play := func(deletes bool) float64 {
		w := newSteadyWorld(b, true)
		d := newDay(perHour)
		d.deletes = deletes
		before := used()
		w.run(d, nothing{})
		return float64((used() - before).Nanoseconds()) / (steadyHours * perHour)
	}
	var expires, deletes, ratios []float64
	for b.Loop() {
		e, d := play(false), play(true)
		expires, deletes, ratios = append(expires, e), append(deletes, d), append(ratios, e/d)
	}
	for name, all := range map[string][]float64{"ns/expired": expires, "ns/deleted": deletes,
		"expired/deleted": ratios} {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], name)
	}
}
