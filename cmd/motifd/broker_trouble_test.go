//go:build kafka && unix

package main

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
	"motifd/stream/kafka/brokertest"
)

// TestBrokerTrouble brings a real broker into trouble, one after the other, while a daemon works with it. After each of
// them nothing is lost and nothing is doubled.
func TestBrokerTrouble(t *testing.T) {
	front := fmt.Sprintf("127.0.0.1:%d", brokertest.FreePorts(t, 1)[0])
	b := brokertest.StartBehind(t, front, nil)
	x := newProxy(t, front, b.Inner())
	if !matchertest.Quick(t) { // the torture has a broker that dies
		t.Run("Away", func(t *testing.T) { brokerAway(t, b) })
		t.Run("Frozen", func(t *testing.T) { brokerFrozen(t, b) })
	}
	t.Run("Output", func(t *testing.T) { outputAway(t, b, x) })
	t.Run("DiskFull", func(t *testing.T) { diskFull(t, b.Addr()) })
	t.Run("SpoolFull", func(t *testing.T) { spoolFull(t, b.Addr()) })
	t.Run("Damaged", func(t *testing.T) { checkpointDamaged(t, b.Addr()) })
	t.Run("Connections", func(t *testing.T) { connectionsFail(t, b, x) })
}

// brokerAway: the broker is not there when the daemon starts, and again while it works, for longer than any time-out.
func brokerAway(t *testing.T, b *brokertest.Broker) {
	x := newTrouble(t, b, "away", 1, "", "")
	b.Kill()
	x.start()
	x.unready("recovering", "connection refused")
	b.Launch(t)
	x.p.ready()
	x.produce(5 * time.Millisecond)
	x.progresses(5)
	b.Kill()
	x.unready("connection refused")
	b.Launch(t)
	x.p.ready()
	x.p.until("it had told so", func() bool { return x.logged("kafka: no longer waiting") > 0 })
	x.progresses(5)
	x.end()
}

// outputAway: the output is away while the input goes on. What comes is left where it is: the daemon's memory stays
// within its queues.
func outputAway(t *testing.T, b *brokertest.Broker, proxy *proxy) {
	x := newTrouble(t, b, "output", 1, "", proxy.addr)
	const queue = 1 << 20
	args := []string{"--set", "queues.input_bytes=1MiB", "--set", "queues.output_bytes=1MiB", "--set",
		"batch.max_bytes=1MiB"}
	x.p = start(t, x.dir, append(args, "--set", "stop_timeout=1s")...)
	x.p.ready()
	x.produce(5 * time.Millisecond)
	x.progresses(3)
	before := x.metric("process_resident_memory_bytes")
	proxy.cutAll(true)
	x.halt()
	x.input.pad = 20 << 10
	const flood = 6000
	require.NoError(t, x.input.flood(t.Context(), b.Addr(), x.topic("in"), flood))
	x.unready("waiting for Kafka")
	require.Less(t, x.metric("motifd_input_records_total"), float64(flood/2), "reading has stopped")
	for _, name := range []string{"motifd_queue_bytes", "motifd_publish_queue_bytes"} {
		require.LessOrEqual(t, x.metric(name), 1.5*queue, name)
	}
	require.LessOrEqual(t, x.metric("motifd_batches_in_flight"), 2.0)
	require.Positive(t, x.metric("motifd_kafka_waiting_seconds"))
	grown := x.metric("process_resident_memory_bytes") - before
	t.Logf("%d messages of 20 KiB came; %.1f MiB are in the queue; the daemon has grown by %.0f MiB",
		flood, x.metric("motifd_queue_bytes")/(1<<20), grown/(1<<20))
	require.Less(t, grown, float64(64<<20))

	// Stopped now, it cannot finish the batch in progress; the next one does.
	require.NoError(t, x.p.cmd.Process.Signal(syscall.SIGTERM))
	<-x.p.done
	require.Equal(t, exitFailed, x.p.cmd.ProcessState.ExitCode(), x.p.stderr.String())
	require.Contains(t, x.p.stderr.String(), "the batch in progress was abandoned")
	x.p = start(t, x.dir, args...)
	x.unready("recovering", "waiting for Kafka")
	proxy.cutAll(false)
	x.end()
}

// brokerFrozen: the broker stops answering at random moments, for longer than the daemon waits for an answer and than a
// transaction may stay open. What it was asked before, it does when it goes on.
func brokerFrozen(t *testing.T, b *brokertest.Broker) {
	x := newTrouble(t, b, "frozen", 1, "", "")
	x.start()
	x.p.ready()
	x.produce(3 * time.Millisecond)
	for i := range 4 {
		x.progresses(2)
		// The sleep is random on purpose. It waits for nothing: it freezes the broker at another moment of a
		// transaction in each round. A wait for a condition would freeze it at the same moment each time.
		time.Sleep(time.Duration(x.rng.IntN(50)) * time.Millisecond) // the moment to test; nothing is waited for
		retries := x.logged("kafka: trying again")
		b.Signal(t, "STOP")
		x.p.until("it had tried again", func() bool { return x.logged("kafka: trying again") > retries+2 })
		if i == 1 {
			x.unready("waiting for Kafka")
		}
		b.Signal(t, "CONT")
	}
	x.progresses(2)
	x.end()
}

// connectionsFail: requests and answers are lost at random, without a word or with the connection.
func connectionsFail(t *testing.T, b *brokertest.Broker, proxy *proxy) {
	x := newTrouble(t, b, "connections", 1, proxy.addr, proxy.addr)
	moments := rand.New(rand.NewPCG(x.rng.Uint64(), 0)) // x.rng is the proxy's from here on
	x.start()
	x.p.ready()
	x.produce(3 * time.Millisecond)
	x.progresses(2)
	count := map[fate]int{}
	proxy.set(func(int16) fate {
		if x.rng.IntN(8) > 0 {
			return pass
		}
		f := []fate{reset, reset, reset, lose, lose, lose, mute}[x.rng.IntN(7)]
		count[f]++
		return f
	})
	for range 6 {
		x.progresses(1)
		// The sleep is random on purpose. It waits for nothing: it cuts connections at another moment in each round,
		// also in the middle of a message. A wait for a condition would cut them at the same moment each time.
		time.Sleep(time.Duration(moments.IntN(20)) * time.Millisecond) // the moment to test; nothing is waited for
		proxy.cutAll(false)
	}
	proxy.set(nil)
	t.Logf("%d requests lost, %d answers lost, %d answers withheld", count[reset], count[lose], count[mute])
	x.progresses(2)
	x.end()
}
