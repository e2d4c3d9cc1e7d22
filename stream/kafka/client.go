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
)

// client is a connection pool with what this package asks of a cluster. Its connections die with close, whatever
// they wait for.
type client struct {
	opt       Client
	addr      net.Addr
	transport *kafkago.Transport
	end       context.CancelFunc
	api       *kafkago.Client
	// openWait bounds how long scan waits for the end of one transaction; 0 is no bound.
	openWait time.Duration

	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]struct{}
}

// newClient opens nothing yet. topics bounds the metadata that is fetched; none means all topics.
func newClient(opt Client, topics ...string) (*client, error) {
	mech, err := opt.SASL.mechanism()
	if err != nil {
		return nil, err
	}
	c := &client{opt: opt, addr: kafkago.TCP(opt.Brokers...), conns: map[net.Conn]struct{}{}}
	// The transport's goroutines end with this context, also those of a pool that a late request makes.
	life, end := context.WithCancel(context.Background())
	c.end = end
	c.transport = &kafkago.Transport{
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
	c.api = &kafkago.Client{Addr: c.addr, Transport: c.transport, Timeout: opt.RequestTimeout}
	return c, nil
}

// dial keeps count of the connections, so that close need not wait for answers that are on their way.
func (c *client) dial(ctx context.Context, network, address string) (net.Conn, error) {
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
	if c.opt.TLS == nil {
		return t, nil
	}
	// Here and not in the transport, which would use the same certificates for ever.
	secure := c.opt.TLS()
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
	c *client
}

func (t *trackedConn) Close() error {
	t.c.mu.Lock()
	delete(t.c.conns, t)
	t.c.mu.Unlock()
	return t.Conn.Close()
}

func (c *client) close() {
	c.transport.CloseIdleConnections()
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

// retry calls f until it succeeds, fails for good, or ctx is done.
func (c *client) retry(
	ctx context.Context,
	op, topic string,
	partition int32,
	f func(ctx context.Context) error,
) error {
	b := c.opt.Events.blocking(op, topic, partition)
	defer b.over()
	for attempt := 1; ; attempt++ {
		err := f(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if fatal(err) {
			return fmt.Errorf("kafka: %s, topic %q: %w", op, topic, err)
		}
		b.failed(err)
		c.opt.Events.retry(op, topic, partition, attempt, err)
		if err := c.pause(ctx, attempt); err != nil {
			return err
		}
	}
}

// pause waits before the next attempt: between half and all of an interval that doubles.
func (c *client) pause(ctx context.Context, attempt int) error {
	d := c.opt.RetryMin << min(attempt-1, 16)
	if d > c.opt.RetryMax || d <= 0 {
		d = c.opt.RetryMax
	}
	return c.sleep(ctx, d/2+time.Duration(rand.Int64N(int64(d/2)+1)))
}

func (c *client) sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// permanent marks an error as one that no retry mends.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// fatal tells whether an error is one that no retry mends. Everything else is taken to pass: a broker that is down
// or overloaded must not stop the daemon, and Events.Retry shows what it waits for.
func fatal(err error) bool {
	var perm permanent
	var cert *tls.CertificateVerificationError
	var notTLS tls.RecordHeaderError
	if errors.As(err, &perm) || errors.As(err, &cert) || errors.As(err, &notTLS) || refusedByTLS(err) {
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

// metadataConfirmations is how often a topic must be seen missing, or with fewer partitions than it had, before that
// is believed. A broker hears of what was created or added later than the controller that answered for it, one broker
// later than another.
const metadataConfirmations = 6

// partitions asks how many partitions a topic has. It had so many when it was last seen, 0 when that is not known. A
// topic that does not exist is an error.
func (c *client) partitions(ctx context.Context, topic string, had int32) (int32, error) {
	var n int32
	missing, fewer := 0, 0
	err := c.retry(ctx, "metadata", topic, -1, func(ctx context.Context) (err error) {
		n, err = c.fetchPartitionCount(ctx, topic)
		if errors.Is(err, kafkago.UnknownTopicOrPartition) {
			if missing++; missing >= metadataConfirmations {
				return permanent{fmt.Errorf("%w: create it first", ErrNoTopic)}
			}
		}
		if err == nil && n < had {
			if fewer++; fewer < metadataConfirmations {
				c.transport.CloseIdleConnections()
				return fmt.Errorf("it has %d partitions and had %d", n, had)
			}
		}
		return err
	})
	return n, err
}

// fetchPartitionCount asks once how many partitions a topic has.
func (c *client) fetchPartitionCount(ctx context.Context, topic string) (int32, error) {
	res, err := c.api.Metadata(ctx, &kafkago.MetadataRequest{Topics: []string{topic}})
	if err == nil {
		err = res.Topics[0].Error
	}
	if err == nil && len(res.Topics[0].Partitions) == 0 {
		err = kafkago.LeaderNotAvailable
	}
	if err != nil {
		// The transport answers from its cache until its next turn; a new pool asks at once.
		c.transport.CloseIdleConnections()
		return 0, err
	}
	return int32(len(res.Topics[0].Partitions)), nil
}

// ErrTooLarge: a topic's max.message.bytes is less than a record, or record batch, that is to be published.
var ErrTooLarge error = kafkago.MessageSizeTooLarge

// ErrNoTopic: the topic does not exist.
var ErrNoTopic = errors.New("topic does not exist")

// extent is the range of offsets that a partition holds: from its log start up to, not including, its end.
type extent struct{ start, end int64 }

// extents asks for the extents of some partitions of a topic.
func (c *client) extents(
	ctx context.Context,
	topic string,
	parts []int32,
	iso kafkago.IsolationLevel,
) (map[int32]extent, error) {
	out := make(map[int32]extent, len(parts))
	if len(parts) == 0 {
		return out, nil
	}
	err := c.retry(ctx, "list offsets", topic, -1, func(ctx context.Context) error {
		req := make([]kafkago.OffsetRequest, 0, 2*len(parts))
		for _, p := range parts {
			req = append(req, kafkago.FirstOffsetOf(int(p)), kafkago.LastOffsetOf(int(p)))
		}
		res, err := c.api.ListOffsets(ctx, &kafkago.ListOffsetsRequest{
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
			out[int32(p.Partition)] = extent{p.FirstOffset, p.LastOffset}
		}
		if len(out) != len(parts) {
			return protocol.ErrNoPartition
		}
		return nil
	})
	return out, err
}

func allPartitions(n int32) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}
