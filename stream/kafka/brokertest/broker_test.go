//go:build kafka && unix

package brokertest

import (
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestBroker: what was acknowledged is there after a kill and after a stop, and the console consumer reads it.
func TestBroker(t *testing.T) {
	b := Start(t, nil)
	tr := &kafkago.Transport{}
	defer tr.CloseIdleConnections()
	cl := &kafkago.Client{Addr: kafkago.TCP(b.Addr()), Transport: tr}
	created, err := cl.CreateTopics(t.Context(), &kafkago.CreateTopicsRequest{Topics: []kafkago.TopicConfig{
		{Topic: "t", NumPartitions: 1, ReplicationFactor: 1}}})
	require.NoError(t, err)
	require.NoError(t, created.Errors["t"])
	produce := func(recs ...kafkago.Record) {
		tr.CloseIdleConnections()
		res, err := cl.Produce(t.Context(), &kafkago.ProduceRequest{Topic: "t", RequiredAcks: kafkago.RequireAll,
			Records: kafkago.NewRecordReader(recs...)})
		require.NoError(t, err)
		require.NoError(t, res.Error)
	}
	produce(kafkago.Record{Key: kafkago.NewBytes([]byte("k")), Value: kafkago.NewBytes([]byte("one")),
		Headers: []kafkago.Header{{Key: "a", Value: []byte("1")}, {Key: "b", Value: []byte("2")}}})
	b.Restart(t)
	produce(kafkago.Record{Value: kafkago.NewBytes([]byte("two"))})
	b.Stop(t)
	b.Launch(t)
	require.Equal(t, []Record{
		{Offset: 0, Key: "k", Value: "one", Headers: map[string]string{"a": "1", "b": "2"}},
		{Offset: 1, Key: Null, Value: "two", Headers: map[string]string{}},
	}, b.Consume(t, "t", func(recs []Record) bool { return len(recs) == 2 }))
}
