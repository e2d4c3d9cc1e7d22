package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/stream/kafka/internal/recordbatch"
)

// The engine of the embedded log does not carry transactions over the death of its process. It hides the records of
// open transactions, but writes no marker that ends them. So after another death, when the log is read again, the next
// transaction of the same producer ends them, too. And a transaction's markers are written one partition after the
// other, so that it can be committed in one and open in the next. So open transactions are ended here, before anybody
// can connect: by a commit if that had begun, else by an abort.

// commitLog names, for recoverTransactions, the transaction whose commit was begun last. The file exists while the log
// is open.
type commitLog struct {
	f    *os.File
	sync bool
}

// producerEpoch is a producer with its epoch. Kafka's producers have one transaction at a time.
type producerEpoch struct {
	id    int64
	epoch int16
}

var nobody = producerEpoch{-1, -1}

func (p producerEpoch) String() string { return fmt.Sprintf("%020d %06d\n", p.id, p.epoch) }

// openCommitLog opens the commitLog in a directory. clean is false when the log was not closed; then last is the
// producer whose commit had begun.
func openCommitLog(dir string, sync bool) (l *commitLog, last producerEpoch, clean bool, err error) {
	path := filepath.Join(dir, "COMMITTING")
	_, err = os.Stat(path)
	if clean = errors.Is(err, os.ErrNotExist); err != nil && !clean {
		return nil, nobody, false, err
	}
	l = &commitLog{sync: sync}
	if l.f, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644); err != nil {
		return nil, nobody, false, err
	}
	last = nobody
	if _, err := fmt.Fscanf(l.f, "%d %d\n", &last.id, &last.epoch); err != nil {
		last = nobody // none, or the machine went down in the middle
	}
	return l, last, clean, nil
}

// write notes the producer whose commit begins; no producer when it is over.
func (l *commitLog) write(p producerEpoch) error {
	if _, err := l.f.WriteAt([]byte(p.String()), 0); err != nil {
		return err
	}
	if l.sync { // nobody, too: what begins now must not be taken for what was committed
		return l.f.Sync()
	}
	return nil
}

// follow has the log note commits that begin, and that a producer begins another transaction: in one of the same
// epoch it has to name the partitions first. A request that cannot be noted is not answered.
func (l *commitLog) follow(c *kfake.Cluster) {
	last := nobody
	note := func(p producerEpoch) (kmsg.Response, error, bool) {
		if p == last {
			return nil, nil, false
		}
		if err := l.write(p); err != nil {
			c.KeepControl()
			return nil, fmt.Errorf("embedded log: %w", err), true
		}
		last = p
		return nil, nil, false
	}
	c.ControlKey(int16(kmsg.EndTxn), func(r kmsg.Request) (kmsg.Response, error, bool) {
		if end := r.(*kmsg.EndTxnRequest); end.Commit {
			return note(producerEpoch{end.ProducerID, end.ProducerEpoch})
		}
		return nil, nil, false
	})
	c.ControlKey(int16(kmsg.AddPartitionsToTxn), func(r kmsg.Request) (kmsg.Response, error, bool) {
		add := r.(*kmsg.AddPartitionsToTxnRequest)
		begins := last != nobody && add.ProducerID == last.id
		for _, t := range add.Transactions { // as brokers ask each other
			begins = begins || last != nobody && t.ProducerID == last.id
		}
		if begins {
			return note(nobody)
		}
		return nil, nil, false
	})
}

func (l *commitLog) close() error { return l.f.Close() }

// remove ends the commitLog of a log that was closed.
func (l *commitLog) remove() error { return errors.Join(l.f.Close(), os.Remove(l.f.Name())) }

// openTransaction is a transaction that has records in a partition but no marker.
type openTransaction struct {
	topic     string
	partition int32
	producer  producerEpoch
}

// recoverTransactions ends the transactions that were open when the process with the log in dir died. With sync, their
// ends are durable before the commitLog notes that no commit has begun.
func recoverTransactions(dir string, sync bool, last producerEpoch) error {
	data := filepath.Join(dir, "data")
	parts, err := entries(filepath.Join(data, "partitions"),
		func(name string) bool { return strings.Contains(name, "-") })
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var open []openTransaction
	for _, part := range parts {
		of, err := recoverPartition(part)
		if err != nil {
			return err
		}
		open = append(open, of...)
	}
	if len(open) == 0 {
		return nil
	}
	opts := []kfake.Opt{kfake.NumBrokers(1), kfake.ListenFn(net.Listen), kfake.DataDir(data)}
	if sync {
		opts = append(opts, kfake.SyncWrites())
	}
	c, err := kfake.NewCluster(opts...)
	if err != nil {
		return err
	}
	err = writeMarkers(c.ListenAddrs()[0], open, last)
	c.Close() // which writes what it raised: the epochs of the producers
	if err != nil {
		return err
	}
	for _, part := range parts {
		if _, err := recoverPartition(part); err != nil { // for its snapshot
			return err
		}
	}
	return nil
}

// indexEntry is the size of a batch's entry in the engine's index.
const indexEntry = 15

// recoverPartition returns the open transactions of a partition. A batch without an entry in the index, which was
// written but not acknowledged, is cut off: otherwise later entries would be taken for those of other batches. If the
// partition has transactions, its snapshot is removed, since it may show one as aborted; without it the engine reads
// the markers.
func recoverPartition(part string) (open []openTransaction, err error) {
	topic, number, ok := cutLast(filepath.Base(part), "-")
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s is not named like a partition", part)
	}
	if topic, err = url.PathUnescape(topic); err != nil {
		return nil, fmt.Errorf("%s is not named like a partition: %w", part, err)
	}
	names, err := entries(part, func(name string) bool { return strings.HasSuffix(name, ".dat") })
	if err != nil {
		return nil, err
	}
	bases := make(map[string]int64, len(names))
	for _, name := range names {
		if bases[name], err = strconv.ParseInt(strings.TrimSuffix(filepath.Base(name), ".dat"), 10, 64); err != nil {
			return nil, fmt.Errorf("%s is not named like a segment", name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return int(min(1, max(-1, bases[a]-bases[b]))) })
	pending := make(map[int64]int16) // by producer, its epoch
	transactions := false
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		indexed := int64(0)
		if info, err := os.Stat(strings.TrimSuffix(name, ".dat") + ".idx"); err == nil {
			indexed = info.Size() / indexEntry
		} else if !errors.Is(err, os.ErrNotExist) {
			return nil, err
		} else if len(raw) > 0 { // no kill leaves that
			return nil, fmt.Errorf(
				"%s has no index beside it, so that nobody knows which of its records were committed; "+
					"put it back, or move the partition away",
				name,
			)
		}
		rest := raw
		for ; indexed > 0; indexed-- {
			b, after, ok, err := recordbatch.Next(rest)
			if err != nil || !ok {
				break // torn: the engine cuts it off, like a batch that does not match its checksum
			}
			switch rest = after; {
			case b.Control():
				delete(pending, b.Producer)
			case b.Transactional():
				transactions = true
				pending[b.Producer] = b.ProducerEpoch()
			}
		}
		if len(rest) > 0 {
			if err := os.Truncate(name, int64(len(raw)-len(rest))); err != nil {
				return nil, err
			}
		}
	}
	if transactions {
		if err := os.Remove(filepath.Join(part, "snapshot.json")); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	for id, epoch := range pending {
		open = append(open, openTransaction{topic, int32(n), producerEpoch{id, epoch}})
	}
	return open, nil
}

// entries returns the paths of those entries of a directory whose names are wanted.
func entries(dir string, wanted func(name string) bool) (paths []string, err error) {
	all, err := os.ReadDir(dir)
	for _, e := range all {
		if wanted(e.Name()) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, err
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// writeMarkers ends transactions: the last one whose commit had begun by a commit, others by an abort.
func writeMarkers(addr string, open []openTransaction, last producerEpoch) error {
	req := kmsg.NewPtrWriteTxnMarkersRequest()
	req.Version = 1
	for _, o := range open {
		m := kmsg.NewWriteTxnMarkersRequestMarker()
		m.ProducerID, m.ProducerEpoch, m.Committed = o.producer.id, o.producer.epoch, o.producer == last
		t := kmsg.NewWriteTxnMarkersRequestMarkerTopic()
		t.Topic, t.Partitions = o.topic, []int32{o.partition}
		m.Topics = append(m.Topics, t)
		req.Markers = append(req.Markers, m)
	}
	resp := kmsg.NewPtrWriteTxnMarkersResponse()
	resp.Version = req.Version
	if err := askLog(addr, req, resp); err != nil {
		return err
	}
	for _, m := range resp.Markers {
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
					return fmt.Errorf(
						"ending the transaction of producer %d in partition %d of %q: %w",
						m.ProducerID,
						p.Partition,
						t.Topic,
						err,
					)
				}
			}
		}
	}
	return nil
}

// askLog sends one request of a flexible version, which kafka-go does not have.
func askLog(addr string, req kmsg.Request, resp kmsg.Response) (err error) {
	conn, err := net.DialTimeout("tcp", addr, time.Minute)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	if _, err := conn.Write(kmsg.NewRequestFormatter().AppendRequest(nil, req, 1)); err != nil {
		return err
	}
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return err
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(conn, body); err != nil {
		return err
	}
	const correlation, tags = 4, 1 // of the response's header; there are no tags
	if len(body) < correlation+tags {
		return io.ErrUnexpectedEOF
	}
	return resp.ReadFrom(body[correlation+tags:])
}
