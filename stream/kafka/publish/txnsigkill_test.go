//go:build kafka && unix

package publish

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/stream"
	"motifd/stream/kafka/internal/kafkatest"
)

// childState is the state that a process of TestPublisherProcess leaves to the next one, as a checkpoint would.
type childState struct {
	Addr      string
	Topics    [5]string // output, dead letters, control, progress, input
	Sizes     []int
	Committed uint64
	Intended  bool
	Mark      stream.Mark
}

const childEnv = "MOTIFD_TEST_PUBLISHER"

// TestPublisherProcess is the process that processesKilled starts; by itself it does nothing.
func TestPublisherProcess(t *testing.T) {
	path := os.Getenv(childEnv)
	if path == "" {
		return
	}
	var st childState
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &st))
	r := st.run()
	r.save = func() {
		st.Committed, st.Intended, st.Mark = r.committed, r.intended, r.mark
		require.NoError(t, writeState(path, &st))
	}
	require.NoError(t, r.goOn(t, t.Context(), uint64(len(r.sizes)), nil))
}

func (st *childState) run() *run {
	r := &run{sizes: st.Sizes, committed: st.Committed, intended: st.Intended, mark: st.Mark}
	r.opt.ClientOptions = (&kafkatest.Cluster{Addr: st.Addr}).Client()
	r.opt.Topic, r.opt.DeadLetters, r.opt.Control, r.opt.Progress = st.Topics[0], st.Topics[1], st.Topics[2],
		st.Topics[3]
	r.opt.Group, r.opt.InputTopic = "lag-"+r.opt.Topic, st.Topics[4]
	r.opt.MaxTransactionRecords, r.opt.BatchBytes, r.opt.sendBytes = 20, 500, 1
	return r
}

func writeState(path string, st *childState) error {
	data, err := json.Marshal(st)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// processesKilled: processes that publish are killed with SIGKILL at random moments, and the next one goes on.
func processesKilled(t *testing.T, e *kafkatest.Cluster) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	st := childState{Addr: e.Addr}
	for range 400 {
		st.Sizes = append(st.Sizes, rng.IntN(60))
	}
	for i, prefix := range []string{"out", "dead", "control", "progress", "in"} {
		partitions := 1
		if i == 0 {
			partitions = 2
		}
		st.Topics[i] = e.Topic(t, prefix, partitions, nil)
	}
	path := filepath.Join(t.TempDir(), "state")
	require.NoError(t, writeState(path, &st))
	kills := 0
	const shortest = time.Second
	life := shortest // of a process, at most; twice as long after one that did nothing
	for {
		cmd := exec.Command(os.Args[0], "-test.run=^TestPublisherProcess$")
		cmd.Env = append(os.Environ(), childEnv+"="+path)
		out, err := os.Create(path + ".log")
		require.NoError(t, err)
		cmd.Stdout, cmd.Stderr = out, out
		require.NoError(t, cmd.Start())
		timer := time.AfterFunc(time.Duration(rng.Int64N(int64(life))), func() { _ = cmd.Process.Kill() })
		err = cmd.Wait()
		timer.Stop()
		require.NoError(t, out.Close())
		before := st.Committed
		data, rerr := os.ReadFile(path)
		require.NoError(t, rerr)
		require.NoError(t, json.Unmarshal(data, &st))
		if err == nil {
			break
		}
		if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !ws.Signaled() {
			text, _ := os.ReadFile(path + ".log")
			t.Fatalf("the publisher failed: %v\n%s", err, text)
		}
		if kills++; st.Committed == before {
			life *= 2
		} else {
			life = max(life/2, shortest)
		}
	}
	t.Logf("%d processes killed", kills)
	require.EqualValues(t, len(st.Sizes), st.Committed)
	st.run().check(t, e, "")
}
