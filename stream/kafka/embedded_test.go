package kafka

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/stream"
)

// TestEmbeddedOnDisk: topics, records and group offsets are there again after a restart, on the same port.
func TestEmbeddedOnDisk(t *testing.T) {
	for _, sync := range []bool{false, true} {
		opt := EmbeddedOptions{
			Dir:    t.TempDir(),
			Sync:   sync,
			Topics: []Topic{{Name: "in", Partitions: 2}, {Name: "out", Partitions: 2}},
		}
		var m stream.Mark
		for batch := uint64(1); batch <= 3; batch++ {
			e, err := OpenEmbedded(opt)
			require.NoError(t, err)
			opt.Port = e.Port()
			s, pr := openSink(t, SinkOptions{Client: fast(e), Topic: "out"}, batch-1, m, batch == 1)
			require.Equal(t, stream.Progress{Stream: "stream-1", Batch: batch, Known: true}, pr)
			m = publish(t, s, batch, deltas(batch, 0, 10))
			require.NoError(t, s.Close())
			src := newSource(t, SourceOptions{Client: fast(e), Topic: "out"})
			require.Len(t, readN(t, src, int(batch)*10), int(batch)*10)
			require.NoError(t, src.Close())
			require.NoError(t, e.Close())
			require.NoError(t, e.Close(), "closed twice")
		}
	}
}

const lockDir = "MOTIFD_TEST_LOCK_DIR"

// TestMainLock is the other process of TestEmbeddedIsLocked.
func TestMainLock(t *testing.T) {
	dir := os.Getenv(lockDir)
	if dir == "" {
		return
	}
	_, err := OpenEmbedded(EmbeddedOptions{Dir: dir})
	require.ErrorIs(t, err, stream.ErrLocked)
	fmt.Println("refused")
}

func TestEmbeddedIsLocked(t *testing.T) {
	dir := t.TempDir()
	e, err := OpenEmbedded(EmbeddedOptions{Dir: dir})
	require.NoError(t, err)
	_, err = OpenEmbedded(EmbeddedOptions{Dir: dir})
	require.ErrorIs(t, err, stream.ErrLocked)
	cmd := exec.Command(os.Args[0], "-test.run=^TestMainLock$", "-test.v")
	cmd.Env = append(os.Environ(), lockDir+"="+dir)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "refused")
	require.NoError(t, e.Close())
	e, err = OpenEmbedded(EmbeddedOptions{Dir: dir})
	require.NoError(t, err)
	require.NoError(t, e.Close())
}

func TestEmbeddedListensOnLoopback(t *testing.T) {
	e := openLog(t)
	host, _, err := net.SplitHostPort(e.Addr())
	require.NoError(t, err)
	require.True(t, net.ParseIP(host).IsLoopback())
}

func TestEnsureTopics(t *testing.T) {
	e := openLog(t)
	ctx := t.Context()
	require.NoError(t, EnsureTopics(ctx, fast(e), Topic{Name: "a", Partitions: 3, Config: Compacted()}, Topic{Name: "b"}))
	require.NoError(t, EnsureTopics(ctx, fast(e), Topic{Name: "a", Partitions: 3}, Topic{Name: "a"}))
	require.ErrorIs(t, EnsureTopics(ctx, fast(e), Topic{Name: "a", Partitions: 2}), ErrPartitions)
	e.Cluster.Fault(faultOn(kmsg.CreateTopics, kerr.TopicAuthorizationFailed, 1))
	require.ErrorIs(t, EnsureTopics(ctx, fast(e), Topic{Name: "c"}), kafkago.TopicAuthorizationFailed)
	require.Equal(t, "compact", *e.Cluster.TopicInfo("a").Configs["cleanup.policy"])
	require.Len(t, e.Cluster.PartitionInfos("a"), 3)
	require.Len(t, e.Cluster.PartitionInfos("b"), 1)
}

// selfSigned makes a certificate for the loopback address, and its PEM text.
func selfSigned(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// always returns a function that returns v, and nil for nil.
func always[T comparable](v T) func() T {
	var none T
	if v == none {
		return nil
	}
	return func() T { return v }
}

func TestTLSAndSASL(t *testing.T) {
	cert, ca := selfSigned(t)
	e, err := OpenEmbedded(EmbeddedOptions{Fake: []kfake.Opt{
		kfake.TLS(&tls.Config{Certificates: []tls.Certificate{cert}}), kfake.EnableSASL(), kfake.SeedTopics(1, "t"),
		kfake.Superuser("PLAIN", "plain", "secret-p"), kfake.Superuser("SCRAM-SHA-256", "s256", "secret-2"),
		kfake.Superuser("SCRAM-SHA-512", "s512", "secret-5")}})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	conf, err := TLSConfig(ca, nil, nil, "")
	require.NoError(t, err)
	with := func(c *tls.Config, s SASL) Client {
		cl := fast(e)
		cl.TLS, cl.SASL = always(c), s
		return cl
	}
	for i, s := range []SASL{
		{"plain", "plain", always("secret-p")}, {"scram-sha-256", "s256", always("secret-2")}, {"scram-sha-512", "s512", always("secret-5")},
	} {
		sink, _ := openSink(t, SinkOptions{Client: with(conf, s), Topic: "t", AllowExisting: true}, 0, nil, true)
		publish(t, sink, 1, deltas(1, 0, 1))
		require.NoError(t, sink.Close())
		src := newSource(t, SourceOptions{Client: with(conf, s), Topic: "t"})
		readN(t, src, i+1)
		require.NoError(t, src.Close())
	}

	// The embedded log closes the connection on a wrong password; a broker answers with an error code.
	wrong := SASL{"scram-sha-256", "s256", always("not the secret")}
	e.Cluster.ControlKey(int16(kmsg.SASLAuthenticate), func(req kmsg.Request) (kmsg.Response, error, bool) {
		resp := req.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		resp.ErrorCode = kerr.SaslAuthenticationFailed.Code
		return resp, nil, true
	})
	_, err = newSource(t, SourceOptions{Client: with(conf, wrong), Topic: "t"}).Read(t.Context())
	require.ErrorIs(t, err, kafkago.SASLAuthenticationFailed)
	require.NotContains(t, err.Error(), "not the secret")
	stranger, err := TLSConfig(nil, nil, nil, "")
	require.NoError(t, err)
	_, err = newSource(t, SourceOptions{Client: with(stranger, wrong), Topic: "t"}).Read(t.Context())
	var unknown *tls.CertificateVerificationError
	require.ErrorAs(t, err, &unknown)

	_, err = TLSConfig([]byte("no pem"), nil, nil, "")
	require.ErrorContains(t, err, "CA")
	_, err = TLSConfig(nil, ca, nil, "")
	require.ErrorContains(t, err, "client certificate")
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q"} {
		require.NotContains(t, fmt.Sprintf(format, SourceOptions{Client: with(conf, wrong)}.SASL), "secret")
		require.NotContains(t, fmt.Sprintf(format, struct{ O SASL }{wrong}), "secret", format)
	}
}

// TestClientCertificate: brokers that want a certificate say so by an alert, which no retry mends.
func TestClientCertificate(t *testing.T) {
	cert, ca := selfSigned(t)
	e, err := OpenEmbedded(EmbeddedOptions{Fake: []kfake.Opt{kfake.SeedTopics(1, "t"),
		kfake.TLS(&tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAnyClientCert})}})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	cl := fast(e)
	secure, err := TLSConfig(ca, nil, nil, "")
	require.NoError(t, err)
	cl.TLS = always(secure)
	_, err = newSource(t, SourceOptions{Client: cl, Topic: "t"}).Read(t.Context())
	require.ErrorContains(t, err, "certificate required")
	require.True(t, refusedByTLS(err))
	secure.Certificates = []tls.Certificate{cert}
	require.NoError(t, newSource(t, SourceOptions{Client: cl, Topic: "t"}).Seek(t.Context(), nil))
	require.False(t, refusedByTLS(&net.OpError{Op: "remote error", Err: tls.AlertError(80)}), "an internal error may pass")
}
