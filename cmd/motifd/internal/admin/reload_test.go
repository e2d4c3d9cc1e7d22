package admin

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/health"
	"motifd/config"
)

// writeCertificate writes a certificate for 127.0.0.1 and its key.
func writeCertificate(t *testing.T, dir string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotAfter: time.Now().
				Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}, &x509.Certificate{SerialNumber: big.NewInt(serial)}, &key.PublicKey, key)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der},
		"key.pem": {Type: "PRIVATE KEY", Bytes: secret}} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600))
	}
}

// directory returns a directory with a token, a certificate and an empty input.
func directory(t *testing.T, token string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "token"), []byte(token), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "in.jsonl"), nil, 0o600))
	writeCertificate(t, dir, 1)
	return dir
}

// TestP7CertificateAndTokenAreReadAgain holds that a certificate and a token that are replaced on disk are in use with
// the next connection and the next request, that what cannot be used is left, and that the log tells either, once.
func TestP7CertificateAndTokenAreReadAgain(t *testing.T) {
	dir := directory(t, "first\n")
	in := func(name string) string { return filepath.Join(dir, name) }
	c, err := config.Load(config.LoadOptions{Set: []string{
		"input.file.path=" + in("in.jsonl"), "output.file.path=out", "checkpoint.dir=d", "admin.listen=127.0.0.1:0",
		"admin.token.file=" + in("token"), "admin.tls.cert_file=" + in("cert.pem"), "admin.tls.key_file=" +
			in("key.pem"),
	}})
	require.NoError(t, err)
	var told []string
	c.OnReload(func(path string, err error) {
		if err == nil {
			told = append(told, path+": changed")
		} else {
			told = append(told, path+": "+err.Error())
		}
	})
	servers, err := Open(c.Admin, &fakeDaemon{}, prometheus.NewRegistry(), zerolog.Nop())
	require.NoError(t, err)
	a := servers[0]
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- a.Serve(ctx) }()
	serial := func() int64 {
		t.Helper()
		conn, err := tls.Dial("tcp", a.listener.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		require.NoError(t, err)
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	code := func(token string) int {
		return ask(
			a,
			"GET",
			"/api/v1/status",
			"",
			func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) },
		).Code
	}
	require.EqualValues(t, 1, serial())
	require.Equal(t, 200, code("first"))
	require.Empty(t, told)

	writeCertificate(t, dir, 2)
	require.NoError(t, os.WriteFile(in("token"), []byte("second"), 0o600))
	require.EqualValues(t, 2, serial())
	require.Equal(t, 401, code("first"))
	require.Equal(t, 200, code("second"))
	require.Equal(t, []string{"admin.tls: changed", "admin.token: changed"}, told)

	told = nil
	require.NoError(t, os.WriteFile(in("key.pem"), []byte("half a key"), 0o600))
	require.NoError(t, os.Remove(in("token")))
	for range 2 {
		require.EqualValues(t, 2, serial())
		require.Equal(t, 200, code("second"))
		require.Equal(t, 401, code(""))
	}
	require.Len(t, told, 2, "what does not change is told once")
	require.Contains(t, told[0], "admin.tls: ")
	require.Equal(t, "admin.token: the file cannot be read: no such file or directory", told[1])

	told = nil
	writeCertificate(t, dir, 3)
	require.NoError(t, os.WriteFile(in("token"), nil, 0o600))
	require.EqualValues(t, 3, serial())
	require.Equal(t, 401, code(""), "an empty file is no empty token")
	require.Equal(t, 200, code("second"))
	require.Equal(t, []string{"admin.tls: changed", "admin.token: the secret is empty"}, told)
	stop()
	require.NoError(t, <-served)
}

// TestReadyzTellsStrangersNoErrors holds that details are for this machine and for those who have the token.
func TestReadyzTellsStrangersNoErrors(t *testing.T) {
	dir := directory(t, "s3cret")
	in := func(name string) string { return filepath.Join(dir, name) }
	load := func(listen string) config.Admin {
		c, err := config.Load(config.LoadOptions{Set: []string{
			"input.file.path=" + in("in.jsonl"), "output.file.path=out", "checkpoint.dir=d", "admin.listen=" + listen,
			"admin.token.file=" + in("token"), "admin.tls.cert_file=" + in("cert.pem"), "admin.tls.key_file=" +
				in("key.pem"),
		}})
		require.NoError(t, err)
		return c.Admin
	}
	waiting := &fakeDaemon{
		ready: health.NotReady{
			Class: "recovering; waiting for Kafka",
			Text:  "recovering; waiting for Kafka for 9s: metadata: dial tcp 10.1.2.3:9092: refused",
		},
	}
	with := func(token string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	far, near := adminOf(load("0.0.0.0:0"), waiting), adminOf(load("127.0.0.1:0"), waiting)
	probes := newProbes("admin.metrics_listen", ":0", nil, waiting, prometheus.NewRegistry(), zerolog.Nop())
	for _, x := range []struct {
		from    http.Handler
		edit    func(*http.Request)
		details bool
	}{
		{far, nil, false}, {far, with("wrong"), false}, {far, with(""), false}, {far, with("s3cret"), true},
		{near, nil, true},
		{probes, nil, false}, {probes, with("s3cret"), false}, {probes, with(""), false},
	} {
		got := ask(x.from, "GET", "/readyz", "", x.edit)
		require.Equal(t, http.StatusServiceUnavailable, got.Code)
		require.Equal(t, x.details, strings.Contains(got.Body.String(), "10.1.2.3"), got.Body.String())
		require.Contains(t, got.Body.String(), "recovering; waiting for Kafka")
	}
	unnamed := ask(adminOf(load("0.0.0.0:0"), &fakeDaemon{ready: errors.New("10.1.2.3")}), "GET", "/readyz", "", nil)
	require.Equal(t, "not ready\n", unnamed.Body.String())
}

// TestMetricsListen holds that admin.metrics_listen has metrics and probes, and nothing else, without a token; and that
// it does not need the admin interface.
func TestMetricsListen(t *testing.T) {
	a := newProbes("admin.metrics_listen", "0.0.0.0:0", nil, &fakeDaemon{}, prometheus.NewRegistry(), zerolog.Nop())
	for path, code := range map[string]int{
		"/metrics": 200, "/livez": 200, "/readyz": 200,
		"/api/v1/status": 404, "/api/v1/queries": 404, "/debug/pprof/": 404, "/": 404,
	} {
		require.Equal(t, code, ask(a, "GET", path, "", nil).Code, path)
	}
	require.Equal(t, 405, ask(a, "POST", "/metrics", `{}`, nil).Code)
	require.Equal(t, 404, ask(a, "POST", "/api/v1/queries", `{"name":"q","cypher":"MATCH (a)-->(b)"}`, nil).Code)
	loopback := newProbes("admin.metrics_listen", "127.0.0.1:0", nil, &fakeDaemon{}, prometheus.NewRegistry(),
		zerolog.Nop())
	require.Equal(t, 421, ask(loopback, "GET", "/metrics", "", func(r *http.Request) { r.Host = "evil.example" }).Code)

	var log bytes.Buffer
	servers, err := Open(config.Admin{MetricsListen: "127.0.0.1:0"}, &fakeDaemon{}, prometheus.NewRegistry(),
		zerolog.New(&log))
	require.NoError(t, err)
	require.Len(t, servers, 1)
	require.Contains(t, log.String(), "metrics and probes")
	taken := servers[0].listener.Addr().String()
	_, err = Open(config.Admin{Listen: "127.0.0.1:0", MetricsListen: taken}, &fakeDaemon{}, prometheus.NewRegistry(),
		zerolog.Nop())
	require.ErrorContains(t, err, "admin.metrics_listen")
	require.NoError(t, servers[0].listener.Close())
}
