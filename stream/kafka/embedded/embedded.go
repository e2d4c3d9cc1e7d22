package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
)

// Options configure the embedded log.
type Options struct {
	// Dir keeps the log on disk; it is created if need be. "" keeps it in memory, and nothing of it after Close.
	Dir string
	// Sync makes each record batch durable before it is acknowledged; otherwise a crash of the machine (not of the
	// process) may lose the last ones.
	Sync bool
	// Port to listen on; 0 chooses a free one. The address is always on the loopback interface.
	Port int
	// Topics are created if they do not exist.
	Topics []admin.Topic
	// Fake are further options of the engine, for tests.
	Fake []kfake.Opt
}

// Log is a single-node log in this process that speaks Kafka's protocol: for trying motifd and for development.
// It is kfake, which was built for testing clients: no replication, no access control, everything in one process. Any
// Kafka client on this machine can talk to it while it runs.
type Log struct {
	// Cluster is the engine, for tests that inject faults.
	Cluster *kfake.Cluster
	addr    string
	lock    *os.File
	commits *commitLog
	once    sync.Once
	err     error
}

// Open starts the embedded log. A directory that another process has open is stream.ErrLocked.
func Open(opt Options) (_ *Log, err error) {
	e := &Log{}
	fake := []kfake.Opt{kfake.NumBrokers(1), kfake.ListenFn(net.Listen)}
	if opt.Port != 0 {
		fake = append(fake, kfake.Ports(opt.Port))
	}
	if opt.Dir != "" {
		if err := os.MkdirAll(opt.Dir, 0o755); err != nil {
			return nil, fmt.Errorf("embedded log: %w", err)
		}
		if e.lock, err = lockFile(filepath.Join(opt.Dir, "LOCK")); err != nil {
			return nil, fmt.Errorf("embedded log in %s: %w", opt.Dir, err)
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, e.lock.Close())
			}
		}()
		var last producerEpoch
		var clean bool
		if e.commits, last, clean, err = openCommitLog(opt.Dir, opt.Sync); err != nil {
			return nil, fmt.Errorf("embedded log: %w", err)
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, e.commits.close())
			}
		}()
		if !clean {
			if err = recoverTransactions(opt.Dir, opt.Sync, last); err != nil {
				return nil, fmt.Errorf("embedded log in %s: recovering transactions: %w", opt.Dir, err)
			}
		}
		if err = e.commits.write(nobody); err != nil {
			return nil, fmt.Errorf("embedded log: %w", err)
		}
		fake = append(fake, kfake.DataDir(filepath.Join(opt.Dir, "data")))
		if opt.Sync {
			fake = append(fake, kfake.SyncWrites())
		}
	}
	if e.Cluster, err = kfake.NewCluster(append(fake, opt.Fake...)...); err != nil {
		return nil, fmt.Errorf("embedded log: %w", err)
	}
	if e.commits != nil {
		e.commits.follow(e.Cluster)
	}
	e.addr = e.Cluster.ListenAddrs()[0]
	if len(opt.Topics) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err = admin.EnsureTopics(ctx, kafka.ClientOptions{Brokers: []string{e.addr}}, opt.Topics...); err != nil {
			e.Cluster.Close()
			return nil, fmt.Errorf("embedded log: %w", err)
		}
	}
	return e, nil
}

// Addr is the address to give to clients as their broker.
func (e *Log) Addr() string { return e.addr }

// Port is the port of Addr.
func (e *Log) Port() int {
	_, p, _ := net.SplitHostPort(e.addr)
	n, _ := strconv.Atoi(p) // a listener's address has a port
	return n
}

// Close stops the log and writes what is not yet on disk. Clients must be closed first, or they try to connect for
// ever.
func (e *Log) Close() error {
	e.once.Do(func() {
		e.Cluster.Close()
		if e.lock != nil {
			e.err = errors.Join(e.commits.remove(), e.lock.Close()) // which releases the lock
		}
	})
	return e.err
}
