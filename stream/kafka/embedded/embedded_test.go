package embedded_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/stream"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/embedded"
	"motifd/stream/kafka/internal/kafkatest"
	"motifd/stream/kafka/publish"
	"motifd/stream/kafka/source"
)

// TestEmbeddedOnDisk: topics, records and group offsets are there again after a restart, on the same port.
func TestEmbeddedOnDisk(t *testing.T) {
	for _, sync := range []bool{false, true} {
		opt := embedded.Options{
			Dir:    t.TempDir(),
			Sync:   sync,
			Topics: []admin.Topic{{Name: "in", Partitions: 2}, {Name: "out", Partitions: 2}},
		}
		var m stream.Mark
		for batch := uint64(1); batch <= 3; batch++ {
			e, err := embedded.Open(opt)
			require.NoError(t, err)
			opt.Port = e.Port()
			s, pr := kafkatest.OpenSink(t, publish.NewSink,
				publish.SinkOptions{ClientOptions: kafkatest.Fast(e), Topic: "out"}, batch-1, m,
				batch == 1)
			require.Equal(t, stream.Progress{Stream: "stream-1", Batch: batch, Known: true}, pr)
			m = kafkatest.Publish(t, s, batch, kafkatest.Deltas(batch, 0, 10))
			require.NoError(t, s.Close())
			src := newSource(t, source.Options{ClientOptions: kafkatest.Fast(e), Topic: "out"})
			require.Len(t, kafkatest.ReadN(t, src, int(batch)*10), int(batch)*10)
			require.NoError(t, src.Close())
			require.NoError(t, e.Close())
			require.NoError(t, e.Close(), "closed twice")
		}
	}
}

const lockDir = "MOTIFD_TEST_LOCK_DIR"

// TestMainLock is the other process of TestEmbeddedIsLocked.
func TestMainLock(t *testing.T) {
	dir := os.Getenv(lockDir)
	if dir == "" {
		return
	}
	_, err := embedded.Open(embedded.Options{Dir: dir})
	require.ErrorIs(t, err, stream.ErrLocked)
	fmt.Println("refused")
}

func TestEmbeddedIsLocked(t *testing.T) {
	dir := t.TempDir()
	e, err := embedded.Open(embedded.Options{Dir: dir})
	require.NoError(t, err)
	_, err = embedded.Open(embedded.Options{Dir: dir})
	require.ErrorIs(t, err, stream.ErrLocked)
	cmd := exec.Command(os.Args[0], "-test.run=^TestMainLock$", "-test.v")
	cmd.Env = append(os.Environ(), lockDir+"="+dir)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "refused")
	require.NoError(t, e.Close())
	e, err = embedded.Open(embedded.Options{Dir: dir})
	require.NoError(t, err)
	require.NoError(t, e.Close())
}

func TestEmbeddedListensOnLoopback(t *testing.T) {
	e := kafkatest.OpenLog(t)
	host, _, err := net.SplitHostPort(e.Addr())
	require.NoError(t, err)
	require.True(t, net.ParseIP(host).IsLoopback())
}

func newSource(t testing.TB, opt source.Options) *source.Source {
	opt.MaxWait = 20 * time.Millisecond
	return kafkatest.Open(t, source.New, opt)
}
