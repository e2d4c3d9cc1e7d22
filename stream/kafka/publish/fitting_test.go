package publish

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/brokertest"
	"motifd/stream/kafka/internal/kafkatest"
)

// fittings are the tests, with transactions and without, of an output and a checkpoint that do not fit together, on the
// embedded log and on a real broker.
var fittings = map[string]func(t *testing.T, f *fitting){
	"MorePartitions": fitMorePartitions, "FewerPartitions": fitFewerPartitions, "Deleted": fitDeleted,
	"LogStartMoved": fitLogStartMoved, "Foreign": fitForeign, "SharedOnPurpose": fitShared, "GroupOfNothing": fitGroup,
	"TooLarge": fitTooLarge,
}

// progressFittings are those with transactions alone.
var progressFittings = map[string]func(t *testing.T, f *fitting){
	"ProgressDeleted": fitProgressDeleted, "ProgressCut": fitProgressCut, "ProgressForeign": fitProgressForeign,
	"ProgressBehind": fitProgressBehind, "ProgressPartitions": fitProgressPartitions, "ProgressOpen": fitProgressOpen,
}

func fit(t *testing.T, newEnds func(t testing.TB) *kafkatest.Cluster) {
	for _, mode := range []string{TransactionsOn, TransactionsOff} {
		for name, test := range fittings {
			t.Run(name+"/"+mode, func(t *testing.T) { test(t, newFitting(t, newEnds(t), mode)) })
		}
	}
	for name, test := range progressFittings {
		t.Run(name, func(t *testing.T) { test(t, newFitting(t, newEnds(t), TransactionsOn)) })
	}
}

func TestP3Fitting(t *testing.T) { fit(t, kafkatest.Embedded) }

// fitting is an output and what a checkpoint remembers of it.
type fitting struct {
	t     *testing.T
	e     *kafkatest.Cluster
	opt   TxnSinkOptions
	mode  string
	batch uint64 // committed
	mark  stream.Mark
}

// newFitting publishes a batch.
func newFitting(t *testing.T, e *kafkatest.Cluster, mode string) *fitting {
	f := &fitting{t: t, e: e, mode: mode, opt: txnOutput(t, e, 2)}
	f.work(nil)
	return f
}

// open opens the output, or says why not.
func (f *fitting) open(change func(o *TxnSinkOptions)) (*Output, error) {
	f.t.Helper()
	opt := f.opt
	if change != nil {
		change(&opt)
	}
	o, err := NewOutput(opt, f.mode)
	require.NoError(f.t, err)
	pr, err := o.Open(f.t.Context(), "stream-1", f.batch, f.mark, f.batch == 0)
	if err != nil {
		require.NoError(f.t, o.Close())
		return nil, err
	}
	require.True(f.t, pr.Known)
	require.LessOrEqual(f.t, pr.Batch, f.batch+1)
	return o, nil
}

const fitRecords = 20

// work opens the output and publishes a batch of fitRecords.
func (f *fitting) work(change func(o *TxnSinkOptions)) {
	f.t.Helper()
	o, err := f.open(change)
	require.NoError(f.t, err)
	f.publish(o)
}

// publish publishes a batch of fitRecords and closes the output.
func (f *fitting) publish(o *Output) {
	f.t.Helper()
	var err error
	f.batch++
	require.NoError(f.t, o.Begin(f.t.Context(), f.batch))
	require.NoError(f.t, o.Write(f.t.Context(), kafkatest.Deltas(f.batch, 0, fitRecords)))
	f.mark, err = o.End(f.t.Context(), stream.Tail{Positions: stream.Positions{0: int64(f.batch), 7: 1}})
	require.NoError(f.t, err)
	require.NoError(f.t, o.Close())
}

// refused tries to open the output, which must fail and leave it as it was.
func (f *fitting) refused(change func(o *TxnSinkOptions), is error, text string) {
	f.t.Helper()
	before := f.all()
	_, err := f.open(change)
	require.ErrorIs(f.t, err, is)
	require.ErrorContains(f.t, err, text)
	require.Equal(f.t, before, f.all())
}

// all lists everything in the output that exists, ours or not.
func (f *fitting) all() (out []string) {
	f.t.Helper()
	infos, err := admin.DescribeTopics(f.t.Context(), f.e.Client(), f.opt.Topic)
	require.NoError(f.t, err)
	if infos[f.opt.Topic] == nil {
		return nil
	}
	for _, s := range f.e.Committed(f.t, f.opt.Topic) {
		out = append(out, fmt.Sprintf("%d %s", s.Partition, s.Value))
	}
	return out
}

// byPartition counts what the output holds.
func (f *fitting) byPartition() map[int]int {
	f.t.Helper()
	n := map[int]int{}
	for _, s := range f.e.Committed(f.t, f.opt.Topic) {
		n[s.Partition]++
	}
	return n
}

func (f *fitting) recreate(topic string, partitions int, config map[string]string) {
	f.t.Helper()
	f.e.DeleteTopic(f.t, topic)
	f.e.CreateAgain(f.t, admin.Topic{Name: topic, Partitions: partitions, Config: config})
}

func reset(o *TxnSinkOptions)  { o.ResetProgress = true }
func keep(o *TxnSinkOptions)   { o.OnPartitions = PartitionsKeep }
func spread(o *TxnSinkOptions) { o.OnPartitions = PartitionsSpread }

// fitMorePartitions: partitions were added to the output. Those that there were go on as before when that is asked for;
// or all are used.
func fitMorePartitions(t *testing.T, f *fitting) {
	f.e.AddPartitions(t, f.opt.Topic, 5)
	f.refused(nil, kafka.ErrPartitions, "it has 5, the checkpoint was written with 2")
	f.refused(reset, kafka.ErrPartitions, "it has 5")
	f.work(keep)
	require.Len(t, f.byPartition(), 2)
	f.refused(nil, kafka.ErrPartitions, "it has 5, the checkpoint was written with 2")
	var told []int32
	f.work(func(o *TxnSinkOptions) {
		spread(o)
		o.Events.Partitions = func(_ string, from, to int32) { told = append(told, from, to) }
	})
	require.Equal(t, []int32{2, 5}, told)
	require.Len(t, f.byPartition(), 5)
	f.work(nil) // from here on, 5 is the count
	require.Len(t, f.all(), 4*fitRecords)
	for _, s := range f.e.Committed(t, f.opt.Topic) {
		count := int32(2)
		if s.Batch > 2 {
			count = 5
		}
		require.EqualValues(t, kafka.PartitionOf(s.Key, count), s.Partition)
	}
}

// fitFewerPartitions: the output was created anew with fewer partitions.
func fitFewerPartitions(t *testing.T, f *fitting) {
	f.recreate(f.opt.Topic, 1, nil)
	f.refused(nil, kafka.ErrPartitions, "created anew")
	f.refused(keep, kafka.ErrPartitions, "created anew")
	f.refused(spread, kafka.ErrPartitions, "created anew")
	f.refused(reset, kafka.ErrPartitions, "created anew")
	f.work(func(o *TxnSinkOptions) { spread(o); reset(o) })
	f.work(nil)
	require.Equal(t, map[int]int{0: 2 * fitRecords}, f.byPartition())
}

// fitDeleted: the output is gone, then empty.
func fitDeleted(t *testing.T, f *fitting) {
	f.e.DeleteTopic(t, f.opt.Topic)
	f.refused(nil, kafka.ErrNoTopic, "create it first")
	f.refused(reset, kafka.ErrNoTopic, "create it first")
	f.e.CreateAgain(t, admin.Topic{Name: f.opt.Topic, Partitions: 2})
	f.refused(nil, stream.ErrOutputDamaged, "deleted and created anew")
	f.work(reset)
	f.work(nil)
	require.Len(t, f.all(), 2*fitRecords)
}

// fitLogStartMoved: retention has removed all that was published, which is none of our concern.
func fitLogStartMoved(t *testing.T, f *fitting) {
	for p := range int32(2) {
		f.e.DeleteRecords(t, f.opt.Topic, p, -1)
	}
	require.Empty(t, f.all())
	f.work(nil)
	require.Len(t, f.all(), fitRecords)
}

// fitForeign: somebody else has written to the output while nobody watched: another program, or another stream.
func fitForeign(t *testing.T, f *fitting) {
	headers := func(stream string) []kgo.RecordHeader {
		return []kgo.RecordHeader{
			{Key: kafka.HeaderStream, Value: []byte(stream)},
			{Key: kafka.HeaderBatch, Value: []byte("1")},
			{Key: kafka.HeaderIndex, Value: []byte("0")},
		}
	}
	for text, rec := range map[string]*kgo.Record{
		"not motifd's":         {Value: []byte("intruder")},
		`of stream "stream-2"`: {Value: []byte("intruder"), Headers: headers("stream-2")},
	} {
		f.e.Write(t, f.opt.Topic, 1, rec)
		f.refused(nil, stream.ErrMismatch, text)
		f.work(reset)
		f.work(nil)
	}
	require.Len(t, f.all(), 5*fitRecords+2)
}

// fitShared: on a topic that is shared on purpose others may write; whoever drops the permission later is not held up
// by what was there before the last commit.
func fitShared(t *testing.T, f *fitting) {
	allow := func(o *TxnSinkOptions) { o.AllowExisting = true }
	shared := &fitting{t: t, e: f.e, mode: f.mode, opt: txnOutput(t, f.e, 3)}
	for p := range int32(3) {
		f.e.Write(t, shared.opt.Topic, p, kafkatest.Texts("theirs")...)
	}
	shared.refused(nil, stream.ErrOutputNotEmpty, "the checkpoint is new")
	shared.work(allow)
	shared.work(nil)
	f.e.Write(t, shared.opt.Topic, 1, kafkatest.Texts("theirs again")...)
	shared.refused(nil, stream.ErrMismatch, "")
	shared.work(allow)
	require.Len(t, shared.all(), 3*fitRecords+4)
}

// fitGroup: the offsets of a group are for show; that the input is gone, or a partition of it, does not hold up a
// batch.
func fitGroup(t *testing.T, f *fitting) {
	in := f.e.Topic(t, "in", 1, nil)
	f.opt.Group, f.opt.InputTopic = in+"-group", in
	f.work(nil) // there is no partition 7
	f.e.DeleteTopic(t, in)
	f.work(nil)
	require.Len(t, f.all(), 3*fitRecords)
}

// fitTooLarge: the output takes no record as large as one of the batch. The batch is done again when it does.
func fitTooLarge(t *testing.T, f *fitting) {
	f.e.AlterTopic(t, f.opt.Topic, map[string]string{"max.message.bytes": "20000"})
	recs := kafkatest.Deltas(2, 0, 5)
	recs[3].Value = bytes.Repeat([]byte("x"), 30_000)
	publish := func() error {
		o, err := f.open(nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, o.Close()) }()
		require.NoError(t, o.Begin(t.Context(), 2))
		if err := o.Write(t.Context(), recs); err != nil {
			return err
		}
		_, err = o.End(t.Context(), stream.Tail{})
		return err
	}
	err := publish()
	require.ErrorIs(t, err, kafka.ErrTooLarge)
	require.ErrorContains(t, err, f.opt.Topic)
	f.e.AlterTopic(t, f.opt.Topic, map[string]string{"max.message.bytes": "1000000"})
	require.NoError(t, publish())
	want := map[string]int{}
	for _, r := range append(kafkatest.Deltas(1, 0, fitRecords), recs...) {
		want[string(r.Value)]++
	}
	for _, s := range f.e.Committed(t, f.opt.Topic) {
		want[string(s.Value)]--
	}
	for value, n := range want {
		require.Zero(t, n, "%.20s", value)
	}
}

// fitProgressDeleted: the progress topic is gone, then empty.
func fitProgressDeleted(t *testing.T, f *fitting) {
	f.e.DeleteTopic(t, f.opt.Progress)
	f.refused(nil, kafka.ErrNoTopic, "create it first")
	f.e.CreateAgain(t, admin.ProgressTopic(f.opt.Progress))
	f.refused(nil, stream.ErrOutputDamaged, "deleted and created anew")
	f.work(reset)
	f.work(nil)
	require.Len(t, f.all(), 3*fitRecords)
}

// fitProgressCut: the progress record was removed: by retention, or by a tombstone.
func fitProgressCut(t *testing.T, f *fitting) {
	f.e.Write(t, f.opt.Progress, 0, &kgo.Record{Key: []byte(f.id()), Value: nil})
	f.refused(nil, stream.ErrOutputDamaged, "there is no progress record")
	f.work(reset)
	f.work(nil)
	if f.e.Real { // which lets nobody delete records of a compacted topic otherwise
		f.e.AlterTopic(t, f.opt.Progress, map[string]string{"cleanup.policy": "delete"})
	}
	f.e.DeleteRecords(t, f.opt.Progress, 0, -1)
	f.refused(nil, stream.ErrOutputDamaged, "there is no progress record")
	f.work(reset)
	f.work(nil)
	require.Len(t, f.all(), 5*fitRecords)
}

// fitProgressOpen: another daemon has a transaction open in the progress topic since before our last batch, so that
// nobody sees the record of that yet. It is no damage: the output can be opened when that transaction has ended.
func fitProgressOpen(t *testing.T, f *fitting) {
	other := f.e.Franz(
		t,
		kgo.TransactionalID(f.id()+"-other"),
		kgo.DefaultProduceTopic(f.opt.Progress),
		kgo.ProducerLinger(0),
	)
	for _, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort} {
		o, err := f.open(nil)
		require.NoError(t, err)
		require.NoError(t, other.BeginTransaction())
		require.NoError(t, other.ProduceSync(t.Context(), &kgo.Record{Key: []byte("other"), Value: []byte("x")}).
			FirstErr())
		f.publish(o)
		ended := sync.OnceFunc(func() {
			assert.NoError(t, brokertest.EndTransaction(t.Context(), other, end, f.opt.Progress))
		})
		f.work(func(o *TxnSinkOptions) {
			o.Events.Retry = func(op, topic string, _ int32, _ int, err error) {
				if op == "read back" && topic == f.opt.Progress {
					ended() // it waits
				}
			}
		})
	}
	require.Len(t, f.all(), 5*fitRecords)
}

func (f *fitting) id() string { return "motifd-" + f.opt.Topic }

// fitProgressForeign: somebody has written to the progress topic what is not ours.
func fitProgressForeign(t *testing.T, f *fitting) {
	f.e.Write(
		t,
		f.opt.Progress,
		0,
		&kgo.Record{Key: []byte("motifd-another"), Value: []byte("another's")},
		&kgo.Record{Key: []byte{}, Value: []byte("an empty key")},
	)
	f.work(nil)
	for value, text := range map[string]string{
		"garbage": "not a progress record",
		`{"v":9,"stream":"stream-1","batch":2,"next":0,"session":"s"}`: "version 9",
		`{"v":1,"stream":"stream-2","batch":2,"next":0,"session":"s"}`: "of stream stream-2",
	} {
		f.e.Write(t, f.opt.Progress, 0, &kgo.Record{Key: []byte(f.id()), Value: []byte(value)})
		f.refused(nil, stream.ErrMismatch, text)
		f.work(reset)
		f.work(nil)
	}
	require.Len(t, f.all(), 8*fitRecords)
}

// fitProgressBehind: the progress record is one from before the last commit.
func fitProgressBehind(t *testing.T, f *fitting) {
	f.work(nil)
	f.e.Write(t, f.opt.Progress, 0, &kgo.Record{Key: []byte(f.id()),
		Value: []byte(`{"v":1,"stream":"stream-1","batch":2,"next":0,"session":"s"}`)})
	f.refused(nil, stream.ErrOutputDamaged, "batch 2 is committed")
	f.work(reset)
	f.work(nil)
	require.Len(t, f.all(), 4*fitRecords)
}

// fitProgressPartitions: the progress topic has grown.
func fitProgressPartitions(t *testing.T, f *fitting) {
	f.e.AddPartitions(t, f.opt.Progress, 2)
	f.refused(nil, kafka.ErrPartitions, "it has 2, expected are 1")
	f.refused(reset, kafka.ErrPartitions, "it has 2, expected are 1")
	another := f.e.Topic(t, "progress", 1, admin.Compacted())
	f.work(func(o *TxnSinkOptions) { o.Progress = another; reset(o) })
	require.Len(t, f.all(), 2*fitRecords)
}

// TestP3RefusedBeforeFenced: a sink that does not fit is refused before it fences the one that works.
func TestP3RefusedBeforeFenced(t *testing.T) {
	f := newFitting(t, kafkatest.Embedded(t), TransactionsOn)
	o, err := f.open(nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, o.Close()) }()
	f.e.Write(t, f.opt.Topic, 0, kafkatest.Texts("intruder")...)
	f.e.AddPartitions(t, f.opt.Topic, 3)
	f.refused(nil, kafka.ErrPartitions, "")
	f.refused(keep, stream.ErrMismatch, "")
	require.NoError(t, o.Begin(context.Background(), 2))
	_, err = o.End(t.Context(), stream.Tail{})
	require.NoError(t, err)
}
