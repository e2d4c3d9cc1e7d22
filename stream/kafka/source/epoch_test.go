package source

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/stream"
	"motifd/stream/kafka/embedded"
	"motifd/stream/kafka/internal/kafkatest"
)

// epochKeeper is a checkpoint's memory of leader epochs.
type epochKeeper struct {
	mu    sync.Mutex
	last  stream.Epochs
	calls int
}

func (k *epochKeeper) keep(e stream.Epochs) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls++
	k.last = stream.Epochs{}
	for p, list := range e {
		k.last[p] = append([]stream.EpochStart(nil), list...)
	}
	return nil
}

func (k *epochKeeper) kept() stream.Epochs {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last
}

// nextEpoch lets a partition of the embedded log be led under another epoch.
func nextEpoch(t *testing.T, log *embedded.Log, topic string) {
	t.Helper()
	require.NoError(t, log.Cluster.MoveTopicPartition(topic, 0, log.Cluster.LeaderFor(topic, 0)))
}

// cutAt makes the log answer questions for the end of epochs as one does that was cut at an offset.
func cutAt(log *embedded.Log, epoch int32, end int64) {
	log.Cluster.ControlKey(int16(kmsg.OffsetForLeaderEpoch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		log.Cluster.KeepControl()
		topic := req.(*kmsg.OffsetForLeaderEpochRequest).Topics[0]
		rt := kmsg.NewOffsetForLeaderEpochResponseTopic()
		rp := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
		rt.Topic, rp.Partition, rp.LeaderEpoch, rp.EndOffset = topic.Topic, topic.Partitions[0].Partition, epoch, end
		rt.Partitions = append(rt.Partitions, rp)
		res := req.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
		res.Topics = append(res.Topics, rt)
		return res, nil, true
	})
}

// TestEpochsAreKept: epochs are kept before their records are handed on; a leader that changes while nothing is lost
// stops nothing, while reading and between two runs.
func TestEpochsAreKept(t *testing.T) {
	log := kafkatest.OpenLog(t)
	e := kafkatest.Of(log)
	topic := e.Topic(t, "in", 1, nil)
	k := &epochKeeper{}
	opt := Options{ClientOptions: e.Client(), Topic: topic, KeepEpochs: k.keep}
	src := newSource(t, opt)
	e.Write(t, topic, 0, kafkatest.Texts("0", "1")...)
	kafkatest.ReadN(t, src, 2)
	require.Equal(t, stream.Epochs{0: {{Epoch: 0, Start: 0}}}, k.kept())
	nextEpoch(t, log, topic)
	nextEpoch(t, log, topic)
	e.Write(t, topic, 0, kafkatest.Texts("2", "3")...)
	kafkatest.ReadN(t, src, 2)
	want := stream.Epochs{0: {{Epoch: 0, Start: 0}, {Epoch: 2, Start: 2}}}
	require.Equal(t, want, k.kept())
	e.Write(t, topic, 0, kafkatest.Texts("4")...)
	kafkatest.ReadN(t, src, 1)
	require.Equal(t, 2, k.calls)
	require.NoError(t, src.Close())

	nextEpoch(t, log, topic)
	opt.Epochs = k.kept()
	src = newSource(t, opt)
	e.Write(t, topic, 0, kafkatest.Texts("5")...) // the embedded log takes note of an epoch with its first record
	require.NoError(t, src.Seek(t.Context(), stream.Positions{0: 5}))
	require.Equal(t, "5", kafkatest.Values(kafkatest.ReadN(t, src, 1)))
	require.Equal(
		t,
		stream.Epochs{0: {{Epoch: 2, Start: 2}, {Epoch: 3, Start: 5}}},
		k.kept(),
		"what no position needs is left out",
	)
	require.NoError(t, src.Close())

	// The position is at the end of an epoch, and what was read ahead of it is forgotten.
	opt.Epochs = k.kept()
	src = newSource(t, opt)
	require.NoError(t, src.Seek(t.Context(), stream.Positions{0: 2}))
	require.Equal(t, "2 3 4 5", kafkatest.Values(kafkatest.ReadN(t, src, 4)))
	require.NoError(t, src.Close())

	broken := errors.New("the disk is full")
	opt.KeepEpochs, opt.Epochs = func(stream.Epochs) error { return broken }, nil
	src = newSource(t, opt)
	_, err := src.Read(t.Context())
	require.ErrorIs(t, err, broken, "nothing is read that could not be kept")
}

// TestUncleanElection: the log was cut below the position while the daemon was down, and filled again beyond it:
// offsets alone tell nothing.
func TestUncleanElection(t *testing.T) {
	log := kafkatest.OpenLog(t)
	e := kafkatest.Of(log)
	topic := e.Topic(t, "in", 1, nil)
	e.Write(t, topic, 0, kafkatest.Texts("0", "1")...) // under epoch 0
	nextEpoch(t, log, topic)
	nextEpoch(t, log, topic)
	e.Write(
		t,
		topic,
		0,
		kafkatest.Texts("c", "d", "e")...) // under epoch 2, where the lost leader of epoch 1 had written others
	opt := Options{
		ClientOptions: e.Client(),
		Topic:         topic,
		Epochs:        stream.Epochs{0: {{Epoch: 0, Start: 0}, {Epoch: 1, Start: 2}}},
	}
	at := stream.Positions{0: 4}
	err := newSource(t, opt).Seek(t.Context(), at)
	require.ErrorIs(t, err, stream.ErrDataLoss)
	require.ErrorIs(t, err, ErrTruncated)
	var cut *TruncatedError
	require.ErrorAs(t, err, &cut)
	require.Equal(t, TruncatedError{Topic: topic, Partition: 0, Epoch: 1, Cut: 2, Position: 4}, *cut)
	require.ErrorContains(
		t,
		err,
		"it was cut at offset 2; records up to offset 3 were read, the last one of leader epoch 1",
	)

	opt.AllowDataLoss = true
	type loss struct{ from, to int64 }
	var got []loss
	opt.Events.Loss = func(_ int32, from, to int64) { got = append(got, loss{from, to}) }
	k := &epochKeeper{}
	opt.KeepEpochs = k.keep
	src := newSource(t, opt)
	require.NoError(t, src.Seek(t.Context(), at))
	require.Equal(t, []loss{{2, 4}}, got)
	require.Equal(t, "c d e", kafkatest.Values(kafkatest.ReadN(t, src, 3)), "what stands there now")
	require.Equal(t, stream.Epochs{0: {{Epoch: 0, Start: 0}, {Epoch: 2, Start: 2}}}, k.kept())

	// Not known; before the cut; as it is.
	for _, epochs := range []stream.Epochs{nil, {0: {{Epoch: 0, Start: 0}}}, {0: {{Epoch: 2, Start: 2}}}} {
		opt := Options{ClientOptions: e.Client(), Topic: topic, Epochs: epochs}
		at := stream.Positions{0: 4}
		if len(epochs[0]) > 0 && epochs[0][0].Epoch == 0 {
			at[0] = 2
		}
		require.NoError(t, newSource(t, opt).Seek(t.Context(), at))
	}
}

// TestUncleanElectionWhileReading: the log is cut below what a running source has read, and filled again beyond it.
func TestUncleanElectionWhileReading(t *testing.T) {
	for _, allow := range []bool{false, true} {
		log := kafkatest.OpenLog(t)
		e := kafkatest.Of(log)
		topic := e.Topic(t, "in", 1, nil)
		opt := Options{ClientOptions: e.Client(), Topic: topic, AllowDataLoss: allow}
		src := newSource(t, opt)
		e.Write(t, topic, 0, kafkatest.Texts("0", "1", "2", "3")...)
		require.Equal(t, "0 1 2 3", kafkatest.Values(kafkatest.ReadN(t, src, 4)))
		nextEpoch(t, log, topic)
		cutAt(log, 0, 2)
		e.Write(t, topic, 0, kafkatest.Texts("after")...)
		recs, err := src.Read(t.Context())
		if !allow {
			require.ErrorIs(t, err, ErrTruncated)
			continue
		}
		require.NoError(t, err)
		require.Equal(
			t,
			"2 3 after",
			kafkatest.Values(recs),
			"from where it was cut, on the embedded log what stands there is the same",
		)
	}
}

// TestEpochIsNotKnown: a broker that knows only older epochs has been replaced without knowing, and is asked again.
func TestEpochIsNotKnown(t *testing.T) {
	log := kafkatest.OpenLog(t)
	e := kafkatest.Of(log)
	topic := e.Topic(t, "in", 1, nil)
	e.Write(t, topic, 0, kafkatest.Texts("0", "1")...)
	var r kafkatest.Retries
	opt := Options{ClientOptions: e.Client(), Topic: topic, Epochs: stream.Epochs{0: {{Epoch: 1, Start: 0}}}}
	opt.Events.Retry = func(op, topic string, p int32, n int, err error) {
		if r.Event(op, topic, p, n, err); r.Of("leader epoch") == 3 {
			nextEpoch(t, log, topic)
		}
	}
	err := newSource(t, opt).Seek(t.Context(), stream.Positions{0: 2})
	require.NoError(t, err)
	require.Equal(t, 3, r.Of("leader epoch"))
}
