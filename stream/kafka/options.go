package kafka

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// ClientOptions say how to reach the brokers. It is part of the options of sources and sinks.
type ClientOptions struct {
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
	// Blocked tells of an error of an operation that nothing goes on without: it is tried again since a while ago. A
	// nil error tells that it has got through, or was given up. Operations are told apart by what comes first.
	Blocked func(op, topic string, partition int32, since time.Time, err error)
	// Loss tells that the records from one offset up to another, which is higher, are gone
	// (source.Options.AllowDataLoss). Reading goes on after them, or, when the log ends before the position (it was
	// cut or created anew), where they were.
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

// Retried calls Retry.
func (e *Events) Retried(op, topic string, partition int32, attempt int, err error) {
	if e.Retry != nil {
		e.Retry(op, topic, partition, attempt, err)
	}
}

// Lost calls Loss with the range between two offsets, unless they are the same.
func (e *Events) Lost(partition int32, a, b int64) {
	if e.Loss != nil && a != b {
		e.Loss(partition, min(a, b), max(a, b))
	}
}

// Grown calls Partitions.
func (e *Events) Grown(topic string, from, to int32) {
	if e.Partitions != nil {
		e.Partitions(topic, from, to)
	}
}

// SetDefaults sets what is not given, and checks the rest.
func (c *ClientOptions) SetDefaults() error {
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
	c.RequestTimeout = cmp.Or(c.RequestTimeout, 30*time.Second)
	c.RetryMin = cmp.Or(c.RetryMin, 100*time.Millisecond)
	c.RetryMax = cmp.Or(c.RetryMax, 5*time.Second)
	c.RetryMax = max(c.RetryMax, c.RetryMin)
	return nil
}
