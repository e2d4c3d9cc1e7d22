package source

import (
	"motifd/stream"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ stream.Source = (*Source)(nil)

func newSource(t testing.TB, opt Options) *Source {
	t.Helper()
	if opt.MaxWait == 0 {
		opt.MaxWait = 20 * time.Millisecond
	}
	src, err := New(opt)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, src.Close()) })
	return src
}
