package main

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"motifd/stream/kafka"
)

// BenchmarkEndToEnd measures the daemon through the embedded log: updates that lie in the input topic, 100 to a message,
// are decoded, searched for the rings and fans of the demo (5 selective patterns), and their deltas published and
// committed to a checkpoint on disk. Making the updates is not measured, checking the alerts is left out.
func BenchmarkEndToEnd(b *testing.B) {
	const updates = 500_000
	var messages []kafkago.Record
	gen := newDemoGen(1, 100_000)
	for range updates / demoMessage {
		list := make([]demoUpdate, demoMessage)
		for i := range list {
			e := gen.next()
			list[i] = newDemoUpdate(&e.Update)
		}
		value, err := json.Marshal(list)
		require.NoError(b, err)
		messages = append(messages, kafkago.Record{Value: kafkago.NewBytes(value)})
	}
	var took time.Duration
	for b.Loop() {
		b.StopTimer()
		took += endToEnd(b, messages)
		b.StartTimer()
	}
	b.ReportMetric(float64(updates)*float64(b.N)/took.Seconds(), "updates/s")
}

func endToEnd(b *testing.B, messages []kafkago.Record) time.Duration {
	log, err := kafka.OpenEmbedded(kafka.EmbeddedOptions{Topics: []kafka.Topic{{Name: demoInput}, {Name: demoOutput}, {Name: demoControl}}})
	require.NoError(b, err)
	defer log.Close()
	transport := &kafkago.Transport{}
	defer transport.CloseIdleConnections()
	client := &kafkago.Client{Addr: kafkago.TCP(log.Addr()), Transport: transport}
	for i := 0; i < len(messages); i += 50 {
		part := messages[i:min(i+50, len(messages))]
		for k := range part {
			_, err := part[k].Value.(interface {
				Seek(int64, int) (int64, error)
			}).Seek(0, 0)
			require.NoError(b, err)
		}
		resp, err := client.Produce(b.Context(), &kafkago.ProduceRequest{
			Topic: demoInput, RequiredAcks: kafkago.RequireAll, Records: kafkago.NewRecordReader(part...),
		})
		require.NoError(b, err)
		require.NoError(b, resp.Error)
	}
	cmd := &demoCmd{backendFlags: backendFlags{Backend: "cpu"}}
	cfg := cmd.config(log.Addr(), b.TempDir())
	cfg.Queries = cfg.Queries[1:] // ring4 to ring6, fan-in, fan-out
	cfg.Batch.MaxUpdates = 10_000
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	s := newService(&app{ctx: ctx}, cfg, newMetrics(0), newLogger(b.Output(), "error", "json"))
	done := make(chan error, 1)
	begin := time.Now()
	go func() { done <- s.run(ctx) }()
	for {
		if p := s.pipeline.Load(); p != nil && p.Status().Positions[0] >= int64(len(messages)) {
			break
		}
		select {
		case err := <-done:
			b.Fatal(err)
		case <-time.After(time.Millisecond):
		}
	}
	took := time.Since(begin)
	stop()
	require.NoError(b, <-done)
	return took
}
