//go:build kafka && unix

package kafka

import (
	"crypto/tls"
	"os"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"motifd/stream"
	"motifd/stream/kafka/brokertest"
)

// tlsOf reads PEM files into a TLS configuration; "" is none.
func tlsOf(t testing.TB, ca string, cert brokertest.Files) *tls.Config {
	t.Helper()
	var pem [3][]byte
	for i, name := range []string{ca, cert.Cert, cert.Key} {
		if name == "" {
			continue
		}
		var err error
		pem[i], err = os.ReadFile(name)
		require.NoError(t, err)
	}
	c, err := TLSConfig(pem[0], pem[1], pem[2], "")
	require.NoError(t, err)
	return c
}

// security: every mechanism and every kind of TLS gets through, in both directions; what is wrong is told, at once.
func security(t *testing.T, b *brokertest.Secured, e *ends) {
	trust := tlsOf(t, b.Certs.CAFile, brokertest.Files{})
	client := tlsOf(t, b.Certs.CAFile, b.Certs.Issue(t, "client"))
	b.AllowAll(t, "User:CN=client")
	type way struct {
		addr string
		tls  *tls.Config
		sasl SASL
	}
	ways := map[string]way{"mutual": {b.Mutual, client, SASL{}}}
	for _, u := range b.Users {
		b.AllowAll(t, "User:"+u.Name)
		s := SASL{u.Mechanism, u.Name, always(u.Password)}
		ways[u.Mechanism], ways[u.Mechanism+", TLS"] = way{b.SASL, nil, s}, way{b.SASLTLS, trust, s}
	}
	for name, w := range ways {
		t.Run(name, func(t *testing.T) {
			opt := e.txnOutput(t, 1)
			opt.Brokers, opt.TLS, opt.SASL = []string{w.addr}, always(w.tls), w.sasl
			s, _ := openTxnSink(t, opt, 0, nil, true)
			_, err := publishBatch(t.Context(), s, 1, deltas(1, 0, 3), stream.Tail{})
			require.NoError(t, err)
			require.Len(t, readN(t, newSource(t, SourceOptions{Client: opt.Client, Topic: opt.Topic}), 3), 3)
			infos, err := DescribeTopics(t.Context(), opt.Client, opt.Topic)
			require.NoError(t, err)
			require.Equal(t, 1, infos[opt.Topic].Partitions)
		})
	}

	in := e.topic(t, "in", 1, nil)
	stranger := brokertest.NewAuthority(t)
	right := b.Users[2]
	for name, c := range map[string]struct {
		way
		is   error
		text string
	}{
		"wrong password":        {way{b.SASL, nil, SASL{right.Mechanism, right.Name, always("not the password")}}, kafkago.SASLAuthenticationFailed, ""},
		"wrong password, PLAIN": {way{b.SASL, nil, SASL{"plain", b.Users[0].Name, always("not the password")}}, kafkago.SASLAuthenticationFailed, ""},
		"unknown user":          {way{b.SASLTLS, trust, SASL{right.Mechanism, "nobody", always("not the password")}}, kafkago.SASLAuthenticationFailed, ""},
		"other mechanism":       {way{b.SASL, nil, SASL{"scram-sha-256", right.Name, always(right.Password)}}, kafkago.SASLAuthenticationFailed, ""},
		"untrusted broker":      {way{b.TLS, tlsOf(t, stranger.CAFile, brokertest.Files{}), SASL{}}, nil, "certificate signed by unknown authority"},
		"no certificate":        {way{b.Mutual, trust, SASL{}}, nil, "certificate"},
		"untrusted certificate": {way{b.Mutual, tlsOf(t, b.Certs.CAFile, stranger.Issue(t, "client")), SASL{}}, nil, "certificate"},
		"no permission":         {way{b.Mutual, tlsOf(t, b.Certs.CAFile, b.Certs.Issue(t, "nobody")), SASL{}}, kafkago.TopicAuthorizationFailed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cl := e.client()
			cl.Brokers, cl.TLS, cl.SASL = []string{c.addr}, always(c.tls), c.sasl
			_, err := newSource(t, SourceOptions{Client: cl, Topic: in}).Read(t.Context())
			require.Error(t, err)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
			require.ErrorContains(t, err, c.text)
			require.NotContains(t, err.Error(), "not the password")
		})
	}
}
