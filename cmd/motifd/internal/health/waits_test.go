package health

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWaitsNameWhatThereIs holds that the reason names the topic and the partition that an operation is about, and
// neither where it is about none.
func TestWaitsNameWhatThereIs(t *testing.T) {
	for what, op := range map[string]Operation{
		`api versions: x`:                   {"api versions", "", -1},
		`metadata, "alerts": x`:             {"metadata", "alerts", -1},
		`fetch, topic "in", partition 3: x`: {"fetch", "in", 3},
	} {
		var w Waits
		w.Note(op, time.Now(), errors.New("x"))
		_, got := w.Longest()
		require.Equal(t, "waiting for Kafka for 0s: "+what, got)
	}
}
