package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestLagTellsWhatIsNotDone: while the input is paused, or a batch does not get out, the lag counts what is not done,
// however much of it has been read; when nobody answers for where the input ends, there is none.
func TestLagTellsWhatIsNotDone(t *testing.T) {
	t.Parallel()
	lag := func(p *process, n int64) {
		t.Helper()
		p.until("the lag", func() bool {
			return strings.Contains(p.ask("GET", "/metrics", "").body,
				fmt.Sprintf("motifd_input_lag{partition=\"0\"} %d\n", n))
		})
	}
	t.Run("Paused", func(t *testing.T) {
		t.Parallel()
		f := newFit(t)
		p := start(t, f.dir, "--set", "graph.max_edges=1", "--set", "batch.max_updates=1")
		p.ready()
		f.work(p)
		lag(p, 0)
		for n := range int64(3) {
			f.send()
			lag(p, n+1)
		}
		p.stop()
	})
	t.Run("Wedged", func(t *testing.T) {
		t.Parallel()
		f := newFit(t)
		p := start(t, f.dir)
		p.ready()
		f.work(p)
		lag(p, 0)
		f.log.Cluster.ControlKey(int16(kmsg.EndTxn), func(kmsg.Request) (kmsg.Response, error, bool) {
			f.log.Cluster.KeepControl()
			return nil, errors.New("connection drops"), true
		})
		for n := range int64(3) {
			f.send()
			lag(p, n+1)
		}
		p.kill()
	})
}
