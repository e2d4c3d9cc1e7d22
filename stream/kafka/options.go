package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"motifd/stream"
)

// Client says how to reach the brokers. It is part of the options of sources and sinks.
type Client struct {
	Brokers  []string // host:port of some brokers; the others are discovered
	ClientID string   // default "motifd"; shown in the brokers' logs and quotas
	// TLS returns the TLS configuration of a new connection; nil: none.
	TLS  func() *tls.Config
	SASL SASL
	// RequestTimeout bounds one request to a broker. Default 30 s. A request that fails is tried again.
	RequestTimeout time.Duration
	// RetryMin and RetryMax bound the back-off between attempts; it doubles, with jitter. Defaults 100 ms and 5 s.
	RetryMin, RetryMax time.Duration
	// Events receives what an operator wants to know. Its functions are called from several goroutines.
	Events Events
}

// SASL holds credentials. They are never printed: String and GoString leave the password out.
type SASL struct {
	Mechanism string // "" for none, "plain", "scram-sha-256" or "scram-sha-512"
	User      string
	// Password returns the password for a new connection.
	Password func() string
}

// String names the mechanism and the user.
func (s SASL) String() string {
	if s.Mechanism == "" {
		return "none"
	}
	return fmt.Sprintf("%s as %q", s.Mechanism, s.User)
}

// GoString is String, so that %#v shows no password either.
func (s SASL) GoString() string { return s.String() }

// Format is String for every verb, %x and %d of the fields included.
func (s SASL) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

func (s SASL) mechanism() (sasl.Mechanism, error) {
	if s.Mechanism != "" && s.User == "" {
		return nil, errors.New("kafka: SASL needs a user")
	}
	switch name := strings.ToLower(s.Mechanism); {
	case name == "":
		return nil, nil
	case name != "plain" && name != "scram-sha-256" && name != "scram-sha-512":
		return nil, fmt.Errorf(
			"kafka: SASL mechanism %q is not supported: use plain, scram-sha-256 or scram-sha-512",
			s.Mechanism,
		)
	case s.Password == nil:
		return nil, errors.New("kafka: SASL needs a password")
	case name == "plain":
		return freshMechanism{plain.Mechanism{}.Name(), func() (sasl.Mechanism, error) {
			return plain.Mechanism{Username: s.User, Password: s.Password()}, nil
		}}, nil
	case name == "scram-sha-256":
		return s.scram(scram.SHA256)
	}
	return s.scram(scram.SHA512)
}

func (s SASL) scram(algo scram.Algorithm) (sasl.Mechanism, error) {
	if _, err := scram.Mechanism(algo, s.User, s.Password()); err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	return freshMechanism{
		algo.Name(),
		func() (sasl.Mechanism, error) { return scram.Mechanism(algo, s.User, s.Password()) },
	}, nil
}

// freshMechanism takes the password anew for each connection.
type freshMechanism struct {
	name string
	make func() (sasl.Mechanism, error)
}

// Name implements sasl.Mechanism.
func (f freshMechanism) Name() string { return f.name }

// Start implements sasl.Mechanism.
func (f freshMechanism) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	m, err := f.make()
	if err != nil {
		return nil, nil, err
	}
	return m.Start(ctx)
}

// TLSConfig builds a TLS configuration from PEM text: the CA certificates to trust (those of the system when nil),
// and a client certificate with its key (none when nil). serverName replaces the broker's host name in its
// certificate when it is not empty.
func TLSConfig(ca, cert, key []byte, serverName string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: serverName}
	if ca != nil {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(ca) {
			return nil, errors.New("the CA file holds no PEM certificate")
		}
	}
	if cert != nil || key != nil {
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("client certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// Events are optional callbacks; nil ones are skipped. They must not block.
type Events struct {
	// Retry tells of an error after which the operation is tried again. partition is -1 when it concerns none.
	Retry func(op, topic string, partition int32, attempt int, err error)
	// Blocked tells of an error of an operation that nothing goes on without: it is tried again since a while ago. A nil
	// error tells that it has got through, or was given up. Operations are told apart by what comes first.
	Blocked func(op, topic string, partition int32, since time.Time, err error)
	// Loss tells that the records from one offset up to another, which is higher, are gone (SourceOptions.AllowDataLoss).
	// Reading goes on after them, or, when the log ends before the position (it was cut or created anew), where they were.
	Loss func(partition int32, from, to int64)
	// Partitions tells that a topic has more partitions than it had, and that all of them are used.
	Partitions func(topic string, from, to int32)
	// Duplicates tells that records were probably published more than once by a retry, or by a request of a former
	// process that arrived late.
	Duplicates func(topic string, partition int32, n int64)
	// Transactions tells, when an output is opened, whether it publishes in transactions.
	Transactions func(on bool)
	// Recovered tells how many records of the batches in hand were found published when the sink was opened.
	Recovered func(records uint64)
}

func (e *Events) retry(op, topic string, partition int32, attempt int, err error) {
	if e.Retry != nil {
		e.Retry(op, topic, partition, attempt, err)
	}
}

func (e *Events) loss(partition int32, a, b int64) {
	if e.Loss != nil && a != b {
		e.Loss(partition, min(a, b), max(a, b))
	}
}

func (e *Events) partitions(topic string, from, to int32) {
	if e.Partitions != nil {
		e.Partitions(topic, from, to)
	}
}

func (c *Client) setDefaults() error {
	if len(c.Brokers) == 0 {
		return errors.New("kafka: no broker is configured")
	}
	for _, b := range c.Brokers {
		if b == "" || strings.ContainsAny(b, ", ") {
			return fmt.Errorf("kafka: broker address %q is not host:port", b)
		}
	}
	if c.ClientID == "" {
		c.ClientID = "motifd"
	}
	defaultTo(&c.RequestTimeout, 30*time.Second)
	defaultTo(&c.RetryMin, 100*time.Millisecond)
	defaultTo(&c.RetryMax, 5*time.Second)
	c.RetryMax = max(c.RetryMax, c.RetryMin)
	return nil
}

// Where a partition is read from when no position is known.
const (
	Earliest = "earliest"
	Latest   = "latest"
)

// What a source shows of transactional input.
const (
	ReadCommitted   = "read_committed"
	ReadUncommitted = "read_uncommitted"
)

// SourceOptions configure a Source.
type SourceOptions struct {
	Client
	Topic string
	// Partitions to read; nil means all, with those that are added later.
	Partitions []int32
	// Start is Earliest (the default) or Latest, for partitions without a position.
	Start string
	// Isolation is ReadCommitted (the default: aborted transactions are left out) or ReadUncommitted.
	Isolation string
	// Merge is MergeTimestamp (the default) or MergeNone: in which order records of different partitions are read.
	Merge string
	// TopicID is the id of the topic that the positions are of, "" when not known: a topic that was deleted and created
	// anew has another one. KeepTopicID, unless nil, stores the id before the first record is read.
	TopicID     string
	KeepTopicID func(id string) error
	// Epochs are the leader epochs of the records before the positions, as far as they are known: by them a log that was
	// cut below a position and written anew is noticed. KeepEpochs, unless nil, stores them before a record of a new one
	// is handed to Read; it is called from several goroutines, one at a time, and keeps nothing of its argument.
	Epochs     stream.Epochs
	KeepEpochs func(stream.Epochs) error
	// AllowDataLoss goes on at the nearest offset that exists when a position is no longer available; otherwise
	// that is stream.ErrDataLoss.
	AllowDataLoss bool
	// FetchBytes is how much is asked of a partition at once. Default 1 MiB. ReadBytes is how many bytes of keys and
	// values Read returns at most, unless one record alone has more. Default 1 MiB. A partition buffers two responses, and
	// one record batch decompressed.
	FetchBytes, ReadBytes int
	// MaxWait is how long a broker may hold back an answer when there is nothing to read. Default 500 ms.
	MaxWait time.Duration
	// MaxRecordBytes is the limit on key and value of one record; a longer one is a dead letter. Default 1 MiB.
	// MaxBatchBytes is the limit on what one compressed record batch expands to; the records of a larger one are one
	// dead letter. Default 64 MiB.
	MaxRecordBytes, MaxBatchBytes int
}

func (o *SourceOptions) setDefaults() error {
	if err := o.Client.setDefaults(); err != nil {
		return err
	}
	if o.Topic == "" {
		return errors.New("kafka: no input topic is configured")
	}
	defaultTo(&o.Start, Earliest)
	if o.Start != Earliest && o.Start != Latest {
		return fmt.Errorf("kafka: start %q is not %s or %s", o.Start, Earliest, Latest)
	}
	defaultTo(&o.Isolation, ReadCommitted)
	if o.Isolation != ReadCommitted && o.Isolation != ReadUncommitted {
		return fmt.Errorf("kafka: isolation %q is not %s or %s", o.Isolation, ReadCommitted, ReadUncommitted)
	}
	defaultTo(&o.Merge, MergeTimestamp)
	if o.Merge != MergeTimestamp && o.Merge != MergeNone {
		return fmt.Errorf("kafka: merge %q is not %s or %s", o.Merge, MergeTimestamp, MergeNone)
	}
	seen := map[int32]bool{}
	for _, p := range o.Partitions {
		if p < 0 || seen[p] {
			return fmt.Errorf("kafka: partition %d is negative or listed twice", p)
		}
		seen[p] = true
	}
	defaultTo(&o.FetchBytes, 1<<20)
	defaultTo(&o.ReadBytes, 1<<20)
	defaultTo(&o.MaxWait, 500*time.Millisecond)
	defaultTo(&o.MaxRecordBytes, 1<<20)
	defaultTo(&o.MaxBatchBytes, 64<<20)
	if o.FetchBytes > MaxFetch {
		return fmt.Errorf("kafka: fetch size %d is above the limit of %d bytes", o.FetchBytes, MaxFetch)
	}
	return nil
}

// SinkOptions configure a Sink.
type SinkOptions struct {
	Client
	Topic string
	// DeadLetters is the topic of refused input records, Control that of the batch records; "" drops dead letters
	// (they are still counted) and needs no batch records.
	DeadLetters, Control string
	// ExpectPartitions is the partition count the output must have; 0 accepts any. A match and its cancellation share
	// a partition only while the count stays as it is.
	ExpectPartitions int32
	// OnPartitions tells what to do when the output has more partitions than at the last commit: PartitionsStop (the
	// default), PartitionsKeep or PartitionsSpread.
	OnPartitions string
	// AllowExisting accepts an output that holds records although the checkpoint is new, and that others write to.
	AllowExisting bool
	// ResetProgress lets the sink go on after the committed batch although the output, or its progress record, was lost,
	// cut or written by others. Records of the batch in hand may then appear twice. It is for one start.
	ResetProgress bool
	// Compression is "" or "none", "gzip", "snappy", "lz4" or "zstd".
	Compression string
	// BatchBytes is when a record batch is sent. Default 512 KiB; at most the topic's max.message.bytes less the
	// largest record.
	BatchBytes int
	// Group publishes the input positions as the offsets of this consumer group on InputTopic, once per GroupInterval
	// (default 1 s) and at the end. "" publishes nothing.
	Group, InputTopic string
	GroupInterval     time.Duration
	// Input reaches the brokers that hold InputTopic, if they are not those of the output.
	Input *Client

	// sendBytes is how much is gathered before it is sent while a batch goes on; roundBytes how much may wait for what is
	// under way.
	sendBytes, roundBytes int
}

func (o *SinkOptions) setDefaults() error {
	if err := o.Client.setDefaults(); err != nil {
		return err
	}
	if o.Topic == "" {
		return errors.New("kafka: no output topic is configured")
	}
	if o.DeadLetters == o.Topic || o.Control == o.Topic || (o.Control != "" && o.Control == o.DeadLetters) {
		return errors.New("kafka: output, dead letters and control records need topics of their own")
	}
	if o.Group != "" && o.InputTopic == "" {
		return errors.New("kafka: a consumer group needs the input topic")
	}
	if o.Input != nil {
		input := *o.Input
		if err := input.setDefaults(); err != nil {
			return fmt.Errorf("%w, of the input", err)
		}
		o.Input = &input
	}
	if _, err := codecOf(o.Compression); err != nil {
		return err
	}
	defaultTo(&o.OnPartitions, PartitionsStop)
	switch o.OnPartitions {
	case PartitionsStop, PartitionsKeep, PartitionsSpread:
	default:
		return fmt.Errorf(
			"kafka: what to do with added partitions is %s, %s or %s, not %q",
			PartitionsStop,
			PartitionsKeep,
			PartitionsSpread,
			o.OnPartitions,
		)
	}
	defaultTo(&o.BatchBytes, 512<<10)
	defaultTo(&o.GroupInterval, time.Second)
	defaultTo(&o.sendBytes, 256<<10)
	defaultTo(&o.roundBytes, 4<<20)
	return nil
}

func codecOf(name string) (kafkago.Compression, error) {
	switch name {
	case "", "none":
		return 0, nil
	case "gzip":
		return kafkago.Gzip, nil
	case "snappy":
		return kafkago.Snappy, nil
	case "lz4":
		return kafkago.Lz4, nil
	case "zstd":
		return kafkago.Zstd, nil
	}
	return 0, fmt.Errorf("kafka: compression %q is not none, gzip, snappy, lz4 or zstd", name)
}

func defaultTo[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}
