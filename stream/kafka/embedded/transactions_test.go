package embedded_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/brokertest"
	"motifd/stream/kafka/embedded"
	"motifd/stream/kafka/internal/kafkatest"
	"motifd/stream/kafka/internal/recordbatch"
)

// killed returns the directory that a log would leave if it were killed now: a copy, whose name would be a bad pattern
// of names.
func killed(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "log[1]")
	require.NoError(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}

// cut takes a number of bytes off the end of a partition's file.
func cut(t *testing.T, dir, topic, ext string, bytes int64) {
	t.Helper()
	path := filepath.Join(dir, "data", "partitions", topic+"-0", "0"+ext)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, info.Size()-bytes))
}

// lastBatch returns the size of the last batch of a partition, and whether it ends a transaction.
func lastBatch(t *testing.T, dir, topic string) (size int64, control bool) {
	t.Helper()
	rest, err := os.ReadFile(filepath.Join(dir, "data", "partitions", topic+"-0", "0.dat"))
	require.NoError(t, err)
	for {
		b, after, ok, err := recordbatch.Next(rest)
		require.NoError(t, err)
		if !ok {
			return size, control
		}
		size, control, rest = int64(len(b.Raw)), b.Control(), after
	}
}

// txnTopics are the two topics of these tests.
var txnTopics = []admin.Topic{{Name: "one", Partitions: 1}, {Name: "two-2", Partitions: 1}}

// txnLog is a log on disk with a producer of transactions to both topics.
type txnLog struct {
	t   *testing.T
	dir string
	log *embedded.Log
	cl  *kgo.Client
}

// reopen opens a log on disk. With old, the producer's transactions keep its epoch (Kafka before 4.0).
func reopen(t *testing.T, dir string, old bool) *txnLog {
	t.Helper()
	l := &txnLog{t: t, dir: dir}
	var err error
	l.log, err = embedded.Open(embedded.Options{Dir: dir, Topics: txnTopics})
	require.NoError(t, err)
	opts := []kgo.Opt{
		kgo.SeedBrokers(l.log.Addr()),
		kgo.TransactionalID("p"),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
	}
	if old {
		opts = append(opts, kgo.MaxVersions(kversion.V3_6_0()))
	}
	l.cl, err = kgo.NewClient(opts...)
	require.NoError(t, err)
	return l
}

// begin begins a transaction with a record in each of some topics.
func (l *txnLog) begin(value string, topics ...admin.Topic) {
	l.t.Helper()
	require.NoError(l.t, l.cl.BeginTransaction())
	for _, topic := range topics {
		require.NoError(l.t, l.cl.ProduceSync(l.t.Context(), &kgo.Record{Topic: topic.Name, Value: []byte(value)}).
			FirstErr())
	}
}

// commit commits a transaction that was begun in both topics.
func (l *txnLog) commit() {
	l.t.Helper()
	err := brokertest.EndTransaction(l.t.Context(), l.cl, kgo.TryCommit, txnTopics[0].Name, txnTopics[1].Name)
	require.NoError(l.t, err)
}

func (l *txnLog) close() {
	l.t.Helper()
	l.cl.Close()
	require.NoError(l.t, l.log.Close())
}

// holds requires that read_committed shows these values, topic by topic.
func (l *txnLog) holds(want ...[]string) {
	l.t.Helper()
	for i, topic := range txnTopics {
		c, err := kafka.NewClient(kafkatest.Fast(l.log), topic.Name)
		require.NoError(l.t, err)
		ends, err := c.Extents(l.t.Context(), topic.Name, []int32{0}, kafkago.ReadUncommitted)
		require.NoError(l.t, err)
		got := []string{}
		_, err = c.Scan(
			l.t.Context(),
			topic.Name,
			0,
			0,
			ends[0].End,
			kafkago.ReadCommitted,
			false,
			func(r *recordbatch.Record) error {
				got = append(got, string(r.Value))
				return nil
			},
		)
		require.NoError(l.t, err)
		require.Equal(l.t, want[i], got, topic.Name)
		c.Close()
	}
}

// epochs are producers whose transactions keep their epoch, and those that get another one with each.
func epochs(t *testing.T, f func(t *testing.T, old bool)) {
	t.Run("one epoch", func(t *testing.T) { f(t, true) })
	t.Run("an epoch each", func(t *testing.T) { f(t, false) })
}

// TestEmbeddedAbortsWhatWasOpen: a transaction that was open when the process was killed stays aborted, however often
// it is killed again, while the same producer commits others.
func TestEmbeddedAbortsWhatWasOpen(t *testing.T) {
	epochs(t, func(t *testing.T, old bool) {
		l := reopen(t, t.TempDir(), old)
		want := []string{"0"}
		l.begin("0", txnTopics...)
		l.commit()
		for i := range 4 {
			l.begin(fmt.Sprint("open ", i), txnTopics[:1+i%2]...)
			dir := killed(t, l.dir)
			l.close()
			l = reopen(t, dir, old)
			l.holds(want, want)
			want = append(want, fmt.Sprint(i+1))
			l.begin(want[i+1], txnTopics...)
			l.commit()
			l.holds(want, want)
		}
		l.close()
		l = reopen(t, l.dir, old) // closed, not killed
		l.holds(want, want)
		l.close()
	})
}

// TestEmbeddedCommitsWhatBeganTo: when the process is killed between the markers of a commit, all of the transaction
// is committed.
func TestEmbeddedCommitsWhatBeganTo(t *testing.T) {
	epochs(t, func(t *testing.T, old bool) {
		for _, first := range txnTopics {
			l := reopen(t, t.TempDir(), old)
			l.begin("a", txnTopics...)
			l.commit()
			l.begin("b", txnTopics...)
			l.commit()
			dir := killed(t, l.dir)
			l.close()
			for _, topic := range txnTopics {
				if topic.Name != first.Name { // has no marker yet
					size, control := lastBatch(t, dir, topic.Name)
					require.True(t, control)
					cut(t, dir, topic.Name, ".dat", size)
					cut(t, dir, topic.Name, ".idx", indexEntry)
				}
			}
			for range 3 {
				l = reopen(t, dir, old)
				l.holds([]string{"a", "b"}, []string{"a", "b"})
				dir = killed(t, dir)
				l.close()
			}
		}
	})
}

// TestEmbeddedDropsWhatIsNotIndexed: a batch that was written, but whose entry in the index was not, is no longer
// there, and those after it are taken for what they are.
func TestEmbeddedDropsWhatIsNotIndexed(t *testing.T) {
	epochs(t, func(t *testing.T, old bool) {
		l := reopen(t, t.TempDir(), old)
		l.begin("a", txnTopics...)
		l.commit()
		l.begin("b", txnTopics...)
		dir := killed(t, l.dir)
		l.close()
		cut(t, dir, txnTopics[0].Name, ".idx", indexEntry)
		want := []string{"a"}
		for i := range 3 {
			l = reopen(t, dir, old)
			l.holds(want, want)
			want = append(want, fmt.Sprint(i))
			l.begin(want[i+1], txnTopics...)
			l.commit()
			dir = killed(t, dir)
			l.close()
		}
	})
}

// TestEmbeddedWithoutCommitLog: what the machine left of the commitLog when it went down keeps nobody from opening
// the log.
func TestEmbeddedWithoutCommitLog(t *testing.T) {
	for _, left := range []string{"", "0000", "what\n"} {
		l := reopen(t, t.TempDir(), true)
		l.begin("a", txnTopics...)
		l.commit()
		l.begin("b", txnTopics...)
		dir := killed(t, l.dir)
		l.close()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "COMMITTING"), []byte(left), 0o644))
		l = reopen(t, dir, true)
		l.holds([]string{"a"}, []string{"a"})
		l.close()
		require.NoFileExists(t, filepath.Join(dir, "COMMITTING"))
	}
}

// TestEmbeddedKeepsWhatHasNoIndex: records are not dropped because the index is gone.
func TestEmbeddedKeepsWhatHasNoIndex(t *testing.T) {
	l := reopen(t, t.TempDir(), true)
	l.begin("a", txnTopics...)
	l.commit()
	dir := killed(t, l.dir)
	l.close()
	index := filepath.Join(dir, "data", "partitions", txnTopics[0].Name+"-0", "0.idx")
	require.NoError(t, os.Rename(index, index+".away"))
	_, err := embedded.Open(embedded.Options{Dir: dir})
	require.ErrorContains(t, err, "has no index")
	require.NoError(t, os.Rename(index+".away", index))
	l = reopen(t, dir, true)
	l.holds([]string{"a"}, []string{"a"})
	l.close()
}

// TestEmbeddedSaysWhatIsDamaged: what is no partition and no segment is named.
func TestEmbeddedSaysWhatIsDamaged(t *testing.T) {
	for _, path := range []string{"partitions/one-0/what.dat", "partitions/one-x", "partitions/%zz-0"} {
		l := reopen(t, t.TempDir(), true)
		l.begin("a", txnTopics...)
		dir := killed(t, l.dir)
		l.close()
		at := filepath.Join(dir, "data", path)
		if strings.HasSuffix(path, ".dat") {
			require.NoError(t, os.WriteFile(at, nil, 0o644))
		} else {
			require.NoError(t, os.Mkdir(at, 0o755))
		}
		_, err := embedded.Open(embedded.Options{Dir: dir})
		require.ErrorContains(t, err, at)
	}
}

// indexEntry is the size of what the engine keeps of a batch beside it.
const indexEntry = 15
