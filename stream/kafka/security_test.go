package kafka_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/stream/kafka"
	"motifd/stream/kafka/embedded"
	"motifd/stream/kafka/internal/kafkatest"
	"motifd/stream/kafka/publish"
	"motifd/stream/kafka/source"
)

func TestTLSAndSASL(t *testing.T) {
	cert, ca := kafkatest.SelfSigned(t)
	e, err := embedded.Open(embedded.Options{Fake: []kfake.Opt{
		kfake.TLS(&tls.Config{Certificates: []tls.Certificate{cert}}), kfake.EnableSASL(), kfake.SeedTopics(1, "t"),
		kfake.Superuser("PLAIN", "plain", "secret-p"), kfake.Superuser("SCRAM-SHA-256", "s256", "secret-2"),
		kfake.Superuser("SCRAM-SHA-512", "s512", "secret-5")}})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	conf, err := kafka.TLSConfig(ca, nil, nil, "")
	require.NoError(t, err)
	with := func(c *tls.Config, s kafka.SASL) kafka.ClientOptions {
		cl := kafkatest.Fast(e)
		cl.TLS, cl.SASL = kafkatest.Always(c), s
		return cl
	}
	for i, s := range []kafka.SASL{
		{Mechanism: "plain", User: "plain", Password: kafkatest.Always("secret-p")},
		{Mechanism: "scram-sha-256", User: "s256", Password: kafkatest.Always("secret-2")},
		{Mechanism: "scram-sha-512", User: "s512", Password: kafkatest.Always("secret-5")},
	} {
		sink, _ := kafkatest.OpenSink(
			t,
			publish.NewSink,
			publish.SinkOptions{ClientOptions: with(conf, s), Topic: "t", AllowExisting: true},
			0,
			nil,
			true,
		)
		kafkatest.Publish(t, sink, 1, kafkatest.Deltas(1, 0, 1))
		require.NoError(t, sink.Close())
		src := newSource(t, source.Options{ClientOptions: with(conf, s), Topic: "t"})
		kafkatest.ReadN(t, src, i+1)
		require.NoError(t, src.Close())
	}

	// The embedded log closes the connection on a wrong password; a broker answers with an error code.
	wrong := kafka.SASL{Mechanism: "scram-sha-256", User: "s256", Password: kafkatest.Always("not the secret")}
	e.Cluster.ControlKey(int16(kmsg.SASLAuthenticate), func(req kmsg.Request) (kmsg.Response, error, bool) {
		resp := req.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		resp.ErrorCode = kerr.SaslAuthenticationFailed.Code
		return resp, nil, true
	})
	_, err = newSource(t, source.Options{ClientOptions: with(conf, wrong), Topic: "t"}).Read(t.Context())
	require.ErrorIs(t, err, kafkago.SASLAuthenticationFailed)
	require.NotContains(t, err.Error(), "not the secret")
	stranger, err := kafka.TLSConfig(nil, nil, nil, "")
	require.NoError(t, err)
	_, err = newSource(t, source.Options{ClientOptions: with(stranger, wrong), Topic: "t"}).Read(t.Context())
	var unknown *tls.CertificateVerificationError
	require.ErrorAs(t, err, &unknown)

	_, err = kafka.TLSConfig([]byte("no pem"), nil, nil, "")
	require.ErrorContains(t, err, "CA")
	_, err = kafka.TLSConfig(nil, ca, nil, "")
	require.ErrorContains(t, err, "client certificate")
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q"} {
		require.NotContains(t, fmt.Sprintf(format, source.Options{ClientOptions: with(conf, wrong)}.SASL), "secret")
		require.NotContains(t, fmt.Sprintf(format, struct{ O kafka.SASL }{wrong}), "secret", format)
	}
}

// TestClientCertificate: brokers that want a certificate say so by an alert, which no retry mends.
func TestClientCertificate(t *testing.T) {
	cert, ca := kafkatest.SelfSigned(t)
	e, err := embedded.Open(embedded.Options{Fake: []kfake.Opt{kfake.SeedTopics(1, "t"),
		kfake.TLS(&tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAnyClientCert})}})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	cl := kafkatest.Fast(e)
	secure, err := kafka.TLSConfig(ca, nil, nil, "")
	require.NoError(t, err)
	cl.TLS = kafkatest.Always(secure)
	_, err = newSource(t, source.Options{ClientOptions: cl, Topic: "t"}).Read(t.Context())
	require.ErrorContains(t, err, "certificate required")
	require.True(t, kafka.Fatal(err))
	secure.Certificates = []tls.Certificate{cert}
	require.NoError(t, newSource(t, source.Options{ClientOptions: cl, Topic: "t"}).Seek(t.Context(), nil))
	require.False(t, kafka.Fatal(&net.OpError{Op: "remote error", Err: tls.AlertError(80)}),
		"an internal error may pass")
}

func newSource(t testing.TB, opt source.Options) *source.Source {
	opt.MaxWait = 20 * time.Millisecond
	return kafkatest.Open(t, source.New, opt)
}
