//go:build kafka && unix

package brokertest

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/matcher/matchertest"
)

// TestSettle: what was changed before Settle counts for what comes after it.
func TestSettle(t *testing.T) {
	matchertest.Long(t, "the tests of daemons, sources and outputs use all of it")
	b := Start(t, nil)
	cl, err := NewClient(b.Addr(), kgo.DefaultProduceTopic("t"), kgo.ProducerBatchCompression(kgo.NoCompression()))
	require.NoError(t, err)
	defer cl.Close()
	create(t, cl, "t")
	limit := func(bytes string) {
		req := kmsg.NewPtrIncrementalAlterConfigsRequest()
		r := kmsg.NewIncrementalAlterConfigsRequestResource()
		r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, "t"
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Value = "max.message.bytes", &bytes
		r.Configs = append(r.Configs, c)
		req.Resources = append(req.Resources, r)
		resp, err := req.RequestWith(t.Context(), cl)
		require.NoError(t, err)
		require.Zero(t, resp.Resources[0].ErrorCode)
		Settle(t, b.Addr())
	}
	for range 10 {
		limit("1000")
		require.ErrorIs(
			t,
			cl.ProduceSync(t.Context(), &kgo.Record{Value: make([]byte, 2000)}).FirstErr(),
			kerr.MessageTooLarge,
		)
		limit("3000")
		require.NoError(t, cl.ProduceSync(t.Context(), &kgo.Record{Value: make([]byte, 2000)}).FirstErr())
	}
}
