package brokertest

import (
	"context"
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

// EndTransaction commits or aborts the transaction in which cl has produced to the topics. franz-go 1.22 may
// acknowledge the first records of a topic before it notes that it knows the topic. A transaction that ends between
// these two is aborted, whatever was asked. So EndTransaction waits until the client knows the topics.
func EndTransaction(ctx context.Context, cl *kgo.Client, end kgo.TransactionEndTry, topics ...string) error {
	for _, topic := range topics {
		for {
			leader, _, err := cl.PartitionLeader(topic, 0)
			if err != nil {
				return err
			}
			if leader >= 0 {
				break
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Millisecond):
			}
		}
	}
	return cl.EndTransaction(ctx, end)
}
