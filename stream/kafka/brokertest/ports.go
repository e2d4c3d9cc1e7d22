//go:build kafka && unix

package brokertest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// The ports from which brokers get theirs. Systems hand out those from 32768 on to whoever asks for any port: one of these,
// found free, may be gone by the time that a broker listens, or comes back after it was killed.
const firstPort, lastPort = 10_000, 32_000

// FreePorts returns ports that nobody listens on and that the system gives to nobody.
func FreePorts(t testing.TB, n int) []int {
	t.Helper()
	var ports []int
	for len(ports) < n {
		port := firstPort + rand.IntN(lastPort-firstPort)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		defer func() { _ = l.Close() }() // when all are found, so that none is found twice
		ports = append(ports, port)
	}
	return ports
}
