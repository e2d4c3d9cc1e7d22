package brokertest

import (
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Patience is the time-out, in milliseconds, of what is asked of a broker that may be slow: ten minutes. What is asked
// again after a time-out may have been done.
const Patience = 10 * 60 * 1000

// NewClient is a client of franz-go that waits for a broker on a busy machine: until it shows a topic that was
// created a moment ago, until it answers again, and until a transaction has ended. The options go before its own.
func NewClient(addr string, opts ...kgo.Opt) (*kgo.Client, error) {
	const patience = Patience * time.Millisecond
	return kgo.NewClient(
		append([]kgo.Opt{kgo.SeedBrokers(addr), kgo.UnknownTopicRetries(-1), kgo.RequestRetries(math.MaxInt32),
			kgo.RetryTimeout(patience), kgo.TransactionTimeout(patience)}, opts...)...)
}
