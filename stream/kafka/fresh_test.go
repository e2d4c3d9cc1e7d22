package kafka

import (
	"crypto/tls"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
)

// TestConnectionsAskAnew holds that each new connection of a client takes the certificates and the password that there
// are then: certificates run out, and passwords change, while the daemon runs.
func TestConnectionsAskAnew(t *testing.T) {
	cert, ca := selfSigned(t)
	e, err := OpenEmbedded(EmbeddedOptions{Fake: []kfake.Opt{
		kfake.TLS(
			&tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAnyClientCert},
		), kfake.EnableSASL(),
		kfake.SeedTopics(1, "t"), kfake.Superuser("PLAIN", "plain", "new"), kfake.Superuser("SCRAM-SHA-256", "s256", "new"),
	}})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	trusting, err := TLSConfig(ca, nil, nil, "")
	require.NoError(t, err)
	trusting.Certificates = []tls.Certificate{cert}
	anonymous, err := TLSConfig(ca, nil, nil, "")
	require.NoError(t, err)
	stranger, err := TLSConfig(nil, nil, nil, "")
	require.NoError(t, err)
	for mechanism, user := range map[string]string{"plain": "plain", "scram-sha-256": "s256"} {
		config, password := trusting, "new"
		opt := fast(e)
		opt.TLS = func() *tls.Config { return config }
		opt.SASL = SASL{mechanism, user, func() string { return password }}
		cl, err := newClient(opt)
		require.NoError(t, err)
		defer cl.close()
		ask := func() error {
			cl.transport.CloseIdleConnections()
			_, err := cl.api.ApiVersions(t.Context(), &kafkago.ApiVersionsRequest{})
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
