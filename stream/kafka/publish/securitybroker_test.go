//go:build kafka && unix

package publish

import (
	"crypto/tls"
	"os"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/brokertest"
	"motifd/stream/kafka/internal/kafkatest"
	"motifd/stream/kafka/source"
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
	c, err := kafka.TLSConfig(pem[0], pem[1], pem[2], "")
	require.NoError(t, err)
	return c
}

// login is a user with a password.
func login(mechanism, user, password string) kafka.SASL {
	return kafka.SASL{Mechanism: mechanism, User: user, Password: kafkatest.Always(password)}
}

// security: every mechanism and every kind of TLS gets through, in both directions; what is wrong is told, at once.
func security(t *testing.T, b *brokertest.Secured, e *kafkatest.Cluster) {
	trust := tlsOf(t, b.Certs.CAFile, brokertest.Files{})
	client := tlsOf(t, b.Certs.CAFile, b.Certs.Issue(t, "client"))
	b.AllowAll(t, "User:CN=client")
	type way struct {
		addr string
		tls  *tls.Config
		sasl kafka.SASL
	}
	ways := map[string]way{"mutual": {b.Mutual, client, kafka.SASL{}}}
	for _, u := range b.Users {
		b.AllowAll(t, "User:"+u.Name)
		s := login(u.Mechanism, u.Name, u.Password)
		ways[u.Mechanism], ways[u.Mechanism+", TLS"] = way{b.SASL, nil, s}, way{b.SASLTLS, trust, s}
	}
	for name, w := range ways {
		t.Run(name, func(t *testing.T) {
			opt := txnOutput(t, e, 1)
			opt.Brokers, opt.TLS, opt.SASL = []string{w.addr}, kafkatest.Always(w.tls), w.sasl
			s, _ := kafkatest.OpenSink(t, NewTxnSink, opt, 0, nil, true)
			_, err := kafkatest.PublishBatch(t.Context(), s, 1, kafkatest.Deltas(1, 0, 3), stream.Tail{})
			require.NoError(t, err)
			require.Len(
				t,
				kafkatest.ReadN(t, newSource(t, source.Options{ClientOptions: opt.ClientOptions, Topic: opt.Topic}), 3),
				3,
			)
			infos, err := admin.DescribeTopics(t.Context(), opt.ClientOptions, opt.Topic)
			require.NoError(t, err)
			require.Equal(t, 1, infos[opt.Topic].Partitions)
		})
	}

	in := e.Topic(t, "in", 1, nil)
	stranger := brokertest.NewAuthority(t)
	right := b.Users[2]
	for name, c := range map[string]struct {
		way
		is   error
		text string
	}{
		"wrong password": {
			way{b.SASL, nil, login(right.Mechanism, right.Name, "not the password")},
			kafkago.SASLAuthenticationFailed, "",
		},
		"wrong password, PLAIN": {
			way{b.SASL, nil, login("plain", b.Users[0].Name, "not the password")},
			kafkago.SASLAuthenticationFailed, "",
		},
		"unknown user": {
			way{b.SASLTLS, trust, login(right.Mechanism, "nobody", "not the password")},
			kafkago.SASLAuthenticationFailed, "",
		},
		"other mechanism": {
			way{b.SASL, nil, login("scram-sha-256", right.Name, right.Password)},
			kafkago.SASLAuthenticationFailed, "",
		},
		"untrusted broker": {
			way{b.TLS, tlsOf(t, stranger.CAFile, brokertest.Files{}), kafka.SASL{}},
			nil, "certificate signed by unknown authority",
		},
		"no certificate": {
			way{b.Mutual, trust, kafka.SASL{}},
			nil, "certificate",
		},
		"untrusted certificate": {
			way{b.Mutual, tlsOf(t, b.Certs.CAFile, stranger.Issue(t, "client")), kafka.SASL{}},
			nil, "certificate",
		},
		"no permission": {
			way{b.Mutual, tlsOf(t, b.Certs.CAFile, b.Certs.Issue(t, "nobody")), kafka.SASL{}},
			kafkago.TopicAuthorizationFailed, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cl := e.Client()
			cl.Brokers, cl.TLS, cl.SASL = []string{c.addr}, kafkatest.Always(c.tls), c.sasl
			_, err := newSource(t, source.Options{ClientOptions: cl, Topic: in}).Read(t.Context())
			require.Error(t, err)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
			require.ErrorContains(t, err, c.text)
			require.NotContains(t, err.Error(), "not the password")
		})
	}
}
