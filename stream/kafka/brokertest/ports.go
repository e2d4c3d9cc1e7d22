//go:build kafka && unix

package brokertest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// The ports from which brokers get theirs. Systems hand out those from 32768 on to whoever asks for any port: one of
// these, found free, may be gone by the time that a broker listens, or comes back after it was killed.
const firstPort, lastPort = 16_000, 32_000

// FreePorts returns ports that are the test's until its end: the UDP ports of these numbers are held, which tells other
// tests, of other processes too.
func FreePorts(t testing.TB, n int) (ports []int) {
	t.Helper()
	for len(ports) < n {
		addr := fmt.Sprintf("127.0.0.1:%d", firstPort+rand.IntN(lastPort-firstPort))
		held, err := net.ListenPacket("udp", addr)
		if err != nil {
			continue
		}
		l, err := net.Listen("tcp", addr)
		if err != nil {
			_ = held.Close()
			continue
		}
		_ = l.Close()
		t.Cleanup(func() { _ = held.Close() })
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}
