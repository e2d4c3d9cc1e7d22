package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"motifd/stream/kafka/internal/recordbatch"
)

// Client is a pool of connections to a cluster, with the requests that readers and writers share. Its connections die
// with Close, whatever they wait for.
type Client struct {
	Options   ClientOptions
	addr      net.Addr
	Transport *kafkago.Transport
	end       context.CancelFunc
	API       *kafkago.Client
	// OpenWait bounds how long Scan waits for the end of one transaction; 0 is no bound.
	OpenWait time.Duration

	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]struct{}
}

// NewClient completes and checks the options; it opens nothing yet. topics bounds the metadata that is fetched; none
// means all topics.
func NewClient(opt ClientOptions, topics ...string) (*Client, error) {
	if err := opt.SetDefaults(); err != nil {
		return nil, err
	}
	mech, err := opt.SASL.mechanism()
	if err != nil {
		return nil, err
	}
	c := &Client{Options: opt, addr: kafkago.TCP(opt.Brokers...), conns: map[net.Conn]struct{}{}}
	// The transport's goroutines end with this context, also those of a pool that a late request makes.
	life, end := context.WithCancel(context.Background())
	c.end = end
	c.Transport = &kafkago.Transport{
		Context:        life,
		Dial:           c.dial,
		DialTimeout:    min(opt.RequestTimeout, 10*time.Second),
		IdleTimeout:    5 * time.Minute,
		MetadataTTL:    5 * time.Second,
		MetadataTopics: topics,
		ClientID:       opt.ClientID,
		SASL:           mech,
	}
	// kafka-go halves the time-out before it tells a broker how long to wait for replicas.
	c.API = &kafkago.Client{Addr: c.addr, Transport: c.Transport, Timeout: opt.RequestTimeout}
	return c, nil
}

// dial keeps count of the connections, so that Close need not wait for answers that are on their way.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	nc, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = nc.Close()
		return nil, net.ErrClosed
	}
	t := &trackedConn{Conn: nc, c: c}
	c.conns[t] = struct{}{}
	if c.Options.TLS == nil {
		return t, nil
	}
	// Here and not in the transport, which would use the same certificates for ever.
	secure := c.Options.TLS()
	if secure.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			host = address
		}
		secure = secure.Clone()
		secure.ServerName = host
	}
	return tls.Client(t, secure), nil
}

type trackedConn struct {
	net.Conn
	c *Client
}

func (t *trackedConn) Close() error {
	t.c.mu.Lock()
	delete(t.c.conns, t)
	t.c.mu.Unlock()
	return t.Conn.Close()
}

// Close ends all connections, whatever they wait for.
func (c *Client) Close() {
	c.Transport.CloseIdleConnections()
	c.end()
	c.mu.Lock()
	c.closed = true
	conns := c.conns
	c.conns = map[net.Conn]struct{}{}
	c.mu.Unlock()
	for nc := range conns {
		_ = nc.(*trackedConn).Conn.Close()
	}
}

// Connections returns the number of open connections.
func (c *Client) Connections() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.conns)
}

// Retry calls f until it succeeds, fails for good, or ctx is done.
func (c *Client) Retry(
	ctx context.Context,
	op, topic string,
	partition int32,
	f func(ctx context.Context) error,
) error {
	b := c.Options.Events.Follow(op, topic, partition)
	defer b.Over()
	for attempt := 1; ; attempt++ {
		err := f(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if Fatal(err) {
			return fmt.Errorf("kafka: %s, topic %q: %w", op, topic, err)
		}
		b.Failed(err)
		c.Options.Events.Retried(op, topic, partition, attempt, err)
		if err := c.Pause(ctx, attempt); err != nil {
			return err
		}
	}
}

// Pause waits before the next attempt: between half and all of an interval that doubles.
func (c *Client) Pause(ctx context.Context, attempt int) error {
	d := c.Options.RetryMin << min(attempt-1, 16)
	if d > c.Options.RetryMax || d <= 0 {
		d = c.Options.RetryMax
	}
	return c.Sleep(ctx, d/2+time.Duration(rand.Int64N(int64(d/2)+1)))
}

// Sleep waits, or returns the cause when ctx is done.
func (c *Client) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Permanent marks an error as one that no retry mends.
func Permanent(err error) error { return permanent{err} }

type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// Fatal tells whether an error is one that no retry mends. Everything else is taken to pass: a broker that is down
// or overloaded must not stop the daemon, and Events.Retry shows what it waits for.
func Fatal(err error) bool {
	var perm permanent
	var version *recordbatch.VersionError
	var cert *tls.CertificateVerificationError
	var notTLS tls.RecordHeaderError
	if errors.As(err, &perm) || errors.As(err, &version) || errors.As(err, &cert) || errors.As(err, &notTLS) ||
		refusedByTLS(err) {
		return true
	}
	var code kafkago.Error
	if !errors.As(err, &code) {
		return false
	}
	switch code {
	case kafkago.TopicAuthorizationFailed, kafkago.GroupAuthorizationFailed, kafkago.ClusterAuthorizationFailed,
		kafkago.TransactionalIDAuthorizationFailed, kafkago.SASLAuthenticationFailed, kafkago.UnsupportedSASLMechanism,
		kafkago.IllegalSASLState, kafkago.MessageSizeTooLarge, kafkago.RecordListTooLarge, kafkago.InvalidTopic,
		kafkago.InvalidRequiredAcks, kafkago.UnsupportedVersion, kafkago.UnsupportedForMessageFormat,
		kafkago.UnsupportedCompressionType, kafkago.InvalidRecord, kafkago.InvalidTimestamp, kafkago.PolicyViolation,
		kafkago.InvalidRequest, kafkago.SecurityDisabled, kafkago.InvalidPartitionNumber,
		kafkago.InvalidReplicationFactor, kafkago.InvalidConfiguration:
		return true
	}
	return false
}

// refusals are the TLS alerts by which a broker says that this client's certificate, or the lack of one, or what it
// offers will not do (RFC 8446, section 6.2).
var refusals = []tls.AlertError{
	40, 42, 43, 44, 45, 46, // handshake failure; bad, unsupported, revoked, expired, unknown certificate
	48, 49, 70, 71, 112, 116, // unknown authority, access denied, version, security, name, certificate required
}

// refusedByTLS tells whether a broker has ended the handshake for good. (The alert's own type is not exported.)
func refusedByTLS(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error" &&
		slices.ContainsFunc(refusals, func(a tls.AlertError) bool { return op.Err.Error() == a.Error() })
}

// MetadataConfirmations is the number of times that a topic must be seen missing, or with fewer partitions than it had,
// before that is believed. A broker learns of new topics and partitions later than the controller that answered for
// them, and some brokers later than others.
const MetadataConfirmations = 6

// Partitions asks how many partitions a topic has. had is the number that was last seen, 0 when it is not known. A
// topic that does not exist is an error.
func (c *Client) Partitions(ctx context.Context, topic string, had int32) (int32, error) {
	var n int32
	missing, fewer := 0, 0
	err := c.Retry(ctx, "metadata", topic, -1, func(ctx context.Context) (err error) {
		n, err = c.FetchPartitionCount(ctx, topic)
		if errors.Is(err, kafkago.UnknownTopicOrPartition) {
			if missing++; missing >= MetadataConfirmations {
				return permanent{fmt.Errorf("%w: create it first", ErrNoTopic)}
			}
		}
		if err == nil && n < had {
			if fewer++; fewer < MetadataConfirmations {
				c.Transport.CloseIdleConnections()
				return fmt.Errorf("it has %d partitions and had %d", n, had)
			}
		}
		return err
	})
	return n, err
}

// FetchPartitionCount asks once how many partitions a topic has.
func (c *Client) FetchPartitionCount(ctx context.Context, topic string) (int32, error) {
	res, err := c.API.Metadata(ctx, &kafkago.MetadataRequest{Topics: []string{topic}})
	if err == nil {
		err = res.Topics[0].Error
	}
	if err == nil && len(res.Topics[0].Partitions) == 0 {
		err = kafkago.LeaderNotAvailable
	}
	if err != nil {
		// The transport answers from its cache until its next turn; a new pool asks at once.
		c.Transport.CloseIdleConnections()
		return 0, err
	}
	return int32(len(res.Topics[0].Partitions)), nil
}

// ErrTooLarge: a topic's max.message.bytes is less than a record, or record batch, that is to be published.
var ErrTooLarge error = kafkago.MessageSizeTooLarge

// ErrNoTopic: the topic does not exist.
var ErrNoTopic = errors.New("topic does not exist")

// Extent is the range of offsets that a partition holds: from its log start up to, not including, its end.
type Extent struct{ Start, End int64 }

// Extents asks for the extents of some partitions of a topic.
func (c *Client) Extents(
	ctx context.Context,
	topic string,
	parts []int32,
	iso kafkago.IsolationLevel,
) (map[int32]Extent, error) {
	out := make(map[int32]Extent, len(parts))
	if len(parts) == 0 {
		return out, nil
	}
	err := c.Retry(ctx, "list offsets", topic, -1, func(ctx context.Context) error {
		req := make([]kafkago.OffsetRequest, 0, 2*len(parts))
		for _, p := range parts {
			req = append(req, kafkago.FirstOffsetOf(int(p)), kafkago.LastOffsetOf(int(p)))
		}
		res, err := c.API.ListOffsets(ctx, &kafkago.ListOffsetsRequest{
			Topics: map[string][]kafkago.OffsetRequest{topic: req}, IsolationLevel: iso})
		if err != nil {
			return err
		}
		clear(out)
		for _, p := range res.Topics[topic] {
			if p.Error != nil {
				return p.Error
			}
			if p.FirstOffset < 0 || p.LastOffset < p.FirstOffset {
				return fmt.Errorf("partition %d: %w", p.Partition, kafkago.OffsetNotAvailable)
			}
			out[int32(p.Partition)] = Extent{p.FirstOffset, p.LastOffset}
		}
		if len(out) != len(parts) {
			return protocol.ErrNoPartition
		}
		return nil
	})
	return out, err
}

// AllPartitions lists the numbers of n partitions.
func AllPartitions(n int32) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// Ask sends a request that is routed by itself.
func Ask[R protocol.Message](ctx context.Context, c *Client, req protocol.Message) (res R, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.Options.RequestTimeout)
	defer cancel()
	m, err := c.Transport.RoundTrip(ctx, c.addr, req)
	if err != nil {
		return res, err
	}
	res, ok := m.(R)
	if !ok {
		return res, permanent{fmt.Errorf("%v was answered with a %T", req.ApiKey(), m)}
	}
	return res, nil
}

// CodeError is the error of a code, nil for none.
func CodeError(code int16) error {
	if code == 0 {
		return nil
	}
	return kafkago.Error(code)
}

// MaxRequests bounds the produce requests of a sink that are under way.
const MaxRequests = 8

// ErrPartitions: a topic has another partition count than it must have.
var ErrPartitions = errors.New("unexpected partition count")

// Supports asks a broker once whether it knows a version of a request.
func (c *Client) Supports(ctx context.Context, key protocol.ApiKey, version int) (bool, error) {
	res, err := c.API.ApiVersions(ctx, &kafkago.ApiVersionsRequest{})
	if err == nil {
		err = res.Error
	}
	if err != nil {
		return false, err
	}
	for _, k := range res.ApiKeys {
		if protocol.ApiKey(k.ApiKey) == key {
			return k.MinVersion <= version && version <= k.MaxVersion, nil
		}
	}
	return false, nil
}
