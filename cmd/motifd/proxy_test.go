//go:build kafka && unix

package main

import (
	bin "encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a proxy does with a request.
type fate int

const (
	pass  fate = iota
	reset      // the connection breaks, and the request is lost
	lose       // the request is carried out; the connection breaks in place of the answer
	mute       // the request is carried out; the answer never comes
)

// proxy stands between a client and a broker that advertises the proxy's address. It knows requests from each other; a
// connection has one of them under way at a time, as kafka-go's have.
type proxy struct {
	addr   string
	target string

	mu      sync.Mutex
	decide  func(api int16) fate // nil: everything passes
	cut     bool                 // nobody gets through
	clients map[net.Conn]bool
	wg      sync.WaitGroup
}

// newProxy listens on a port, for clients of the broker at target.
func newProxy(t testing.TB, addr, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	require.NoError(t, err)
	x := &proxy{addr: addr, target: target, clients: map[net.Conn]bool{}}
	x.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			x.wg.Go(func() { x.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		x.cutAll(true)
		x.wg.Wait()
	})
	return x
}

// set says what becomes of requests from now on.
func (x *proxy) set(decide func(api int16) fate) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.decide = decide
}

// cutAll breaks all connections, and refuses new ones while stay is set.
func (x *proxy) cutAll(stay bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.cut = stay
	for c := range x.clients {
		hangUp(c)
	}
}

// hangUp resets a connection: what is under way on it is lost.
func hangUp(c net.Conn) {
	_ = c.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
}

func (x *proxy) serve(c net.Conn) {
	x.mu.Lock()
	refused := x.cut
	x.clients[c] = true
	x.mu.Unlock()
	defer func() {
		x.mu.Lock()
		delete(x.clients, c)
		x.mu.Unlock()
		hangUp(c)
	}()
	if refused {
		return
	}
	b, err := net.Dial("tcp", x.target)
	if err != nil {
		return
	}
	defer b.Close()
	for x.exchange(c, b) == nil {
	}
}

var errFate = errors.New("so it was decided")

// exchange hands on a request and its answer.
func (x *proxy) exchange(c, b net.Conn) error {
	request, err := readFrame(c)
	if err != nil {
		return err
	}
	x.mu.Lock()
	f := pass
	if x.decide != nil {
		f = x.decide(int16(bin.BigEndian.Uint16(request[4:])))
	}
	x.mu.Unlock()
	if f == reset {
		return errFate
	}
	if _, err := b.Write(request); err != nil {
		return err
	}
	answer, err := readFrame(b)
	if err != nil {
		return err
	}
	switch f {
	case lose:
		return errFate
	case mute:
		_, err := io.Copy(io.Discard, c) // until the client has lost its patience
		return errors.Join(errFate, err)
	}
	_, err = c.Write(answer)
	return err
}

// readFrame reads a request or an answer with its length.
func readFrame(c net.Conn) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return nil, err
	}
	size := bin.BigEndian.Uint32(head[:])
	if size < 4 || size > 256<<20 {
		return nil, errors.New("no frame of the Kafka protocol")
	}
	frame := make([]byte, 4+size)
	copy(frame, head[:])
	_, err := io.ReadFull(c, frame[4:])
	return frame, err
}
