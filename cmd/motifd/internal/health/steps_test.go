package health

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"motifd/stream"
)

// TestSlowStepIsLogged: one line for each 10 seconds of a step, none for steps that are short.
func TestSlowStepIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		begin := time.Now()
		step := func() (stream.StepStatus, bool) {
			switch at := time.Since(begin); {
			case at < 9*time.Second:
				return stream.StepStatus{Batch: 1, Seconds: at.Seconds()}, true
			case at < 20*time.Second:
				return stream.StepStatus{}, false
			default:
				return stream.StepStatus{Batch: 2, Seconds: (at - 20*time.Second).Seconds(), Query: "fan10",
					AnchorsDone: 41, Anchors: 60, Found: 9, Records: 7}, true
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 55*time.Second)
		defer cancel()
		WatchSteps(ctx, step, zerolog.New(&out))
		require.Equal(t, 3, strings.Count(out.String(), "\n"), out.String())
		require.Contains(t, out.String(), `"query":"fan10"`)
		require.Contains(t, out.String(), `"anchors_done":41,"anchors":60,"found":9,"records":7`)
		require.NotContains(t, out.String(), `"change"`, "what is not known is left out")
		require.NotContains(t, out.String(), `"sign"`, "what is not known is left out")
		require.NotContains(t, out.String(), `"batch":1`)
	})
}

// TestAStepThatTakesLongIsNotReady: /readyz names the batch and the query.
func TestAStepThatTakesLongIsNotReady(t *testing.T) {
	step := &stream.StepStatus{Batch: 7, Seconds: 61, Change: "add", Query: "fan10"}
	require.ErrorContains(t, overdue(step, time.Minute),
		`batch 7, add of query "fan10", has taken 1m1s; admin.step_timeout is 1m0s`)
	require.NoError(t, overdue(step, 0))
	require.NoError(t, overdue(&stream.StepStatus{Batch: 7, Seconds: 59}, time.Minute))
}
