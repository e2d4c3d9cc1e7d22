package publish

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/internal/kafkatest"
	"motifd/stream/kafka/internal/recordbatch"
)

func FuzzProgress(f *testing.F) {
	f.Add([]byte(`{"v":1,"stream":"s","batch":3,"next":0,"session":"x"}`))
	f.Add([]byte(`{"v":2}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		rec, err := parseProgress(value)
		require.Equal(t, err == nil, rec != nil)
		if err != nil {
			return
		}
		again, err := json.Marshal(rec)
		require.NoError(t, err)
		same, err := parseProgress(again)
		require.NoError(t, err)
		require.Equal(t, rec, same)
	})
}

// TestProgressIsRead: the last committed record of the key, whatever else is in a topic that is shared.
func TestProgressIsRead(t *testing.T) {
	e := kafkatest.Embedded(t)
	r := newRun(t, e, 1, 2, 2)
	require.NoError(t, r.goOn(t, t.Context(), 2, nil))
	other := newRun(t, e, 1, 2, 2, 2)
	other.opt.Progress = r.opt.Progress
	require.NoError(t, other.goOn(t, t.Context(), 3, nil))

	opt := r.opt.ClientOptions
	require.NoError(t, opt.SetDefaults())
	cl, err := kafka.NewClient(opt)
	require.NoError(t, err)
	t.Cleanup(cl.Close)
	at := func(id string) publishPosition {
		rec, _, err := readProgress(t.Context(), cl, r.opt.Progress, id, -1, true)
		require.NoError(t, err)
		if rec == nil {
			return publishPosition{}
		}
		require.Equal(t, "stream-1", rec.Stream)
		return rec.at()
	}
	require.Equal(t, publishPosition{3, 0}, at("motifd-"+r.opt.Topic))
	require.Equal(t, publishPosition{4, 0}, at("motifd-"+other.opt.Topic))
	require.Equal(t, publishPosition{}, at("nobody"))

	// An open transaction of a neighbour hides what comes after it, so reading waits for its end.
	x := newTransactions(cl, "neighbour", 300*time.Millisecond)
	to := topicPartition{r.opt.Progress, 0}
	for lost := true; lost; lost = errors.Is(err, errTxnLost) { // the time may be over before the record is sent
		require.NoError(t, x.init(t.Context(), true))
		if err = x.add(t.Context(), []topicPartition{to}); err != nil {
			continue
		}
		b := &recordbatch.Builder{}
		b.Reset()
		b.Add([]byte("neighbour"), []byte("{}"), nil)
		raw, e := b.Finish(time.Now())
		require.NoError(t, e)
		err = x.produce(t.Context(), []*produceBatch{{to: &outPart{topicPartition: to}, raw: raw, count: 1}})
	}
	require.NoError(t, err)
	r.sizes = append(r.sizes, 2)
	require.NoError(t, r.goOn(t, t.Context(), 3, nil))
	require.Equal(t, publishPosition{4, 0}, at("motifd-"+r.opt.Topic))

	reference := &kafkago.Client{Addr: kafkago.TCP(e.Addr), Transport: cl.Transport}
	kafkatest.Produce(t, reference, r.opt.Progress, 0, 0, kafkatest.Rec("motifd-"+r.opt.Topic, "no record of ours"))
	_, _, err = readProgress(t.Context(), cl, r.opt.Progress, "motifd-"+r.opt.Topic, -1, true)
	require.ErrorIs(t, err, stream.ErrMismatch)
}
