package publish

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
	"motifd/stream/kafka/internal/kafkatest"
)

// newRun prepares an output for a run of batches.
func newRun(t testing.TB, e *kafkatest.Cluster, partitions int, sizes ...int) *run {
	t.Helper()
	r := &run{opt: txnOutput(t, e, partitions), sizes: sizes}
	r.opt.MaxTransactionRecords = 10
	r.opt.Group, r.opt.InputTopic = "lag-"+r.opt.Topic, e.Topic(t, "in", 1, nil)
	return r
}

// connectionsBreak loses every request of a run once, and every answer once. The sink goes on by itself; where crash is
// set its process ends at that point instead, and another one goes on. Under the race detector, which sees the same
// goroutines at each request, it loses every third.
func connectionsBreak(t *testing.T, e *kafkatest.Cluster, answer, crash bool) {
	first, step := 1, 1
	if matchertest.UnderRace {
		first, step = 1+rand.IntN(3), 3
	}
	for at := first; ; at += step {
		msg := fmt.Sprintf("cut at request %d, answer %v, crash %v", at, answer, crash)
		r := newRun(t, e, 2, 12, 0, 4)
		ctx, cancel := context.WithCancelCause(t.Context())
		c := &cutter{at: at, answer: answer, dead: crash}
		if crash {
			c.onCut = func() { cancel(errCut) }
		}
		last := uint64(len(r.sizes))
		err := r.goOn(t, ctx, last, c.install)
		cancel(nil)
		if crash && c.isCut {
			if err == nil { // the cut came with Close
				require.Equal(t, last, r.committed, msg)
			} else {
				require.ErrorIs(t, err, errCut, msg)
			}
			require.NoError(t, r.goOn(t, t.Context(), last, nil), msg)
		} else {
			require.NoError(t, err, msg)
		}
		r.check(t, e, msg)
		if !c.isCut {
			t.Logf("fewer than %d requests", at)
			require.Greater(t, at, 15)
			return
		}
	}
}

// cuts runs connectionsBreak in all its forms.
func cuts(t *testing.T, newEnds func(t testing.TB) *kafkatest.Cluster) {
	for _, answer := range []bool{false, true} {
		for _, crash := range []bool{false, true} {
			t.Run(fmt.Sprintf("answer=%v,crash=%v", answer, crash), func(t *testing.T) {
				t.Parallel()
				connectionsBreak(t, newEnds(t), answer, crash)
			})
		}
	}
}

// TestTxnConnectionsBreak: DESIGN S9 at every step of a transaction.
func TestTxnConnectionsBreak(t *testing.T) { cuts(t, kafkatest.Embedded) }

// unknownOutcomes: the broker commits, and then answers a question about it as if it did not know the transaction. The
// sink has to find out by itself that all of it is published.
func unknownOutcomes(t *testing.T, e *kafkatest.Cluster) {
	for at := 1; ; at++ {
		r := newRun(t, e, 2, 25, 0, 4)
		var causes []error
		r.opt.Events.Retry = func(op, _ string, _ int32, _ int, err error) {
			if op == "transaction" {
				causes = append(causes, err)
			}
		}
		c := &cutter{at: at, kinds: []int16{apiEndTxn}, code: int16(kafkago.InvalidTransactionState)}
		require.NoError(t, r.goOn(t, t.Context(), 3, c.install))
		r.check(t, e, fmt.Sprint("end of transaction ", at))
		if !c.isCut {
			require.Equal(t, 7, at, "the claim, and five transactions of three batches")
			return
		}
		if at > 1 { // the first one is the claim
			require.Len(t, causes, 1)
			require.ErrorIs(t, causes[0], errTxnLost)
		}
	}
}

func TestTxnUnknownOutcome(t *testing.T) { unknownOutcomes(t, kafkatest.Embedded(t)) }
