package publish

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"motifd/stream"
	"motifd/stream/kafka/internal/kafkatest"
	"motifd/stream/kafka/source"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	_ stream.Sink = (*Sink)(nil)
	_ stream.Sink = (*TxnSink)(nil)
)

// crash stops a sink as the end of its process would: what waits is dropped, a transaction stays open. It returns when
// the requests that were on their way have been answered, so that none arrives after the next Open.
func crash(t testing.TB, s stream.Sink) {
	t.Helper()
	var p *publisher
	switch s := s.(type) {
	case *Sink:
		p = &s.publisher
	case *TxnSink:
		p = &s.publisher
	}
	p.cancel(errors.New("crashed"))
	p.wg.Wait()
	p.open = false // so that Close aborts nothing
	p.cl.Transport.CloseIdleConnections()
	for p.cl.Connections() > 0 {
		time.Sleep(time.Millisecond) // kafka-go does not tell when a connection is closed
	}
	require.NoError(t, s.Close())
}

func newSource(t testing.TB, opt source.Options) *source.Source {
	opt.MaxWait = 20 * time.Millisecond
	return kafkatest.Open(t, source.New, opt)
}
