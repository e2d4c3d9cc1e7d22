package kafka_test

import (
	"crypto/tls"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"motifd/stream/kafka"
	"motifd/stream/kafka/embedded"
	"motifd/stream/kafka/internal/kafkatest"
)

// TestConnectionsAskAnew holds that each new connection of a client takes the certificates and the password that there
// are then: certificates run out, and passwords change, while the daemon runs.
func TestConnectionsAskAnew(t *testing.T) {
	cert, ca := kafkatest.SelfSigned(t)
	e, err := embedded.Open(embedded.Options{Fake: []kfake.Opt{
		kfake.TLS(
			&tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAnyClientCert},
		), kfake.EnableSASL(),
		kfake.SeedTopics(1, "t"), kfake.Superuser("PLAIN", "plain", "new"),
		kfake.Superuser("SCRAM-SHA-256", "s256", "new"),
	}})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	trusting, err := kafka.TLSConfig(ca, nil, nil, "")
	require.NoError(t, err)
	trusting.Certificates = []tls.Certificate{cert}
	anonymous, err := kafka.TLSConfig(ca, nil, nil, "")
	require.NoError(t, err)
	stranger, err := kafka.TLSConfig(nil, nil, nil, "")
	require.NoError(t, err)
	for mechanism, user := range map[string]string{"plain": "plain", "scram-sha-256": "s256"} {
		config, password := trusting, "new"
		opt := kafkatest.Fast(e)
		opt.TLS = func() *tls.Config { return config }
		opt.SASL = kafka.SASL{Mechanism: mechanism, User: user, Password: func() string { return password }}
		cl, err := kafka.NewClient(opt)
		require.NoError(t, err)
		defer cl.Close()
		ask := func() error {
			cl.Transport.CloseIdleConnections()
			_, err := cl.API.ApiVersions(t.Context(), &kafkago.ApiVersionsRequest{})
			return err
		}
		require.NoError(t, ask())
		password = "old"
		require.Error(t, ask(), "the password has changed")
		password = "new"
		require.NoError(t, ask())
		for _, other := range []*tls.Config{anonymous, stranger} {
			config = other
			require.Error(t, ask(), "the certificates have changed")
			config = trusting
			require.NoError(t, ask())
		}
	}
}
