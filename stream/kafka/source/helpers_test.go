package source

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"motifd/stream"
	"motifd/stream/kafka/internal/kafkatest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ stream.Source = (*Source)(nil)

func newSource(t testing.TB, opt Options) *Source {
	if opt.MaxWait == 0 {
		opt.MaxWait = 20 * time.Millisecond
	}
	return kafkatest.Open(t, New, opt)
}
