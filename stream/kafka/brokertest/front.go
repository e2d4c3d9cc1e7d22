//go:build kafka && unix

package brokertest

import (
	"fmt"
	"testing"
)

// StartBehind is Start for a broker behind a proxy. The broker has a second listener, at Inner, whose clients are told
// to connect to the address front, where the proxy listens and forwards to Inner.
func StartBehind(t testing.TB, front string, properties map[string]string) *Broker {
	t.Helper()
	b := &Broker{dir: t.TempDir(), lib: findLib(t), inner: fmt.Sprintf("127.0.0.1:%d", FreePorts(t, 1)[0])}
	b.adjust = func(lines map[string]string) {
		lines["listeners"] += ",FRONT://" + b.inner
		lines["advertised.listeners"] += ",FRONT://" + front
		lines["listener.security.protocol.map"] += ",FRONT:PLAINTEXT"
		lines["inter.broker.listener.name"] = "PLAINTEXT"
	}
	return start(t, b, properties)
}

// Inner is where a proxy in front of the broker finds it; "" when it was not started by StartBehind.
func (b *Broker) Inner() string { return b.inner }
