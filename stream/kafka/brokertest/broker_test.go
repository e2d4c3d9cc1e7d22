//go:build kafka && unix

package brokertest

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"motifd/matcher/matchertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestBroker: what was acknowledged is there after a kill and after a stop, and the console consumer reads it.
func TestBroker(t *testing.T) {
	matchertest.Long(t, "the tests of daemons, sources and outputs use all of it")
	b := Start(t, nil)
	cl, err := NewClient(b.Addr(), kgo.DefaultProduceTopic("t"))
	require.NoError(t, err)
	defer cl.Close()
	create(t, cl, "t")
	produce := func(rec *kgo.Record) {
		require.NoError(t, cl.ProduceSync(t.Context(), rec).FirstErr())
	}
	produce(
		&kgo.Record{
			Key:     []byte("k"),
			Value:   []byte("one"),
			Headers: []kgo.RecordHeader{{Key: "a", Value: []byte("1")}, {Key: "b", Value: []byte("2")}},
		},
	)
	b.Restart(t)
	produce(&kgo.Record{Value: []byte("two")})
	b.Stop(t)
	b.Launch(t)
	require.Equal(t, []Record{
		{Offset: 0, Key: "k", Value: "one", Headers: map[string]string{"a": "1", "b": "2"}},
		{Offset: 1, Key: Null, Value: "two", Headers: map[string]string{}},
	}, b.Consume(t, "t", func(recs []Record) bool { return len(recs) == 2 }))
}
