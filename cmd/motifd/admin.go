package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	stdlog "log"
	"mime"
	"net"
	"net/http"
	"net/http/pprof"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"
	"golang.org/x/time/rate"

	"motifd/config"
)

// Bounds on what a client of the admin interface may take.
const (
	adminHeaderTimeout = 5 * time.Second
	adminReadTimeout   = 15 * time.Second
	adminWriteTimeout  = 2 * time.Minute // CPU profiles take up to a minute
	adminIdleTimeout   = time.Minute
	adminMaxHeader     = 64 << 10
	adminMaxBody       = 2 << 20 // a pattern has at most 1 MiB
	adminStopTimeout   = 3 * time.Second
)

// adminServer is the HTTP interface (DESIGN P7), or the part of it at admin.metrics_listen.
type adminServer struct {
	field  string // of the address
	listen string // address
	tls    *tls.Config
	hosts  []string // accepted in the Host header; nil accepts any
	token  config.Secret
	log    zerolog.Logger
	mux    *http.ServeMux
	rate   *rate.Limiter // of requests that change something; nil is no bound
}

// newAdmin returns the interface to a daemon.
func newAdmin(cfg config.Admin, d daemon, metrics prometheus.Gatherer, log zerolog.Logger) (*adminServer, error) {
	a := newProbes("admin.listen", cfg.Listen, cfg.Hosts, d, metrics, log)
	var err error
	if a.tls, err = cfg.ServerTLS(); err != nil {
		return nil, err
	}
	a.token = cfg.Token
	if n := cfg.MaxRequestsPerSecond; n > 0 {
		a.rate = rate.NewLimiter(rate.Limit(n), n)
	}
	(&api{d: d}).register(a.mux)
	if cfg.PProf {
		a.mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		a.mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		a.mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		a.mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		a.mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return a, nil
}

// newProbes returns what only reads and tells nothing of the graph: metrics and probes, without TLS and token.
func newProbes(field, listen string, hosts []string, d daemon, metrics prometheus.Gatherer,
	log zerolog.Logger) *adminServer {
	a := &adminServer{field: field, listen: listen, log: log, mux: http.NewServeMux()}
	if config.IsLoopback(listen) || len(hosts) > 0 {
		host, _, _ := net.SplitHostPort(listen) // the configuration was validated
		a.hosts = append([]string{host, "localhost", "127.0.0.1", "::1"}, hosts...)
		for i, h := range a.hosts { // names of hosts have no case
			a.hosts[i] = strings.ToLower(h)
		}
	}
	a.mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "ok") })
	a.mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		err := d.Ready()
		switch {
		case err == nil:
			writeText(w, http.StatusOK, "ok")
		case config.IsLoopback(listen) || a.token.Set() && a.authorized(r):
			writeText(w, http.StatusServiceUnavailable, err.Error())
		default: // errors name brokers and topics, and anybody may ask
			writeText(w, http.StatusServiceUnavailable, classOf(err))
		}
	})
	a.mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	return a
}

// open opens the address, so that a taken one is an error at start.
func (a *adminServer) open() (net.Listener, error) {
	l, err := net.Listen("tcp", a.listen)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.field, err)
	}
	return l, nil
}

// serve answers requests until ctx is done.
func (a *adminServer) serve(ctx context.Context, l net.Listener) error {
	s := &http.Server{
		Handler:           a,
		ReadHeaderTimeout: adminHeaderTimeout,
		ReadTimeout:       adminReadTimeout,
		WriteTimeout:      adminWriteTimeout,
		IdleTimeout:       adminIdleTimeout,
		MaxHeaderBytes:    adminMaxHeader,
		TLSConfig:         a.tls,
		ErrorLog:          stdlog.New(serverLog{a.log}, "", 0),
	}
	served := make(chan error, 1)
	go func() {
		if a.tls != nil {
			served <- s.ServeTLS(l, "", "")
			return
		}
		served <- s.Serve(l)
	}()
	select {
	case err := <-served:
		return fmt.Errorf("admin interface: %w", err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), adminStopTimeout)
	defer cancel()
	if err := s.Shutdown(stop); err != nil {
		_ = s.Close() // whoever is still connected is cut off
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("admin interface: %w", err)
	}
	return nil
}

// serverLog writes what the HTTP server has to say about connections to the log: a text of its own on standard error
// would be no JSON.
type serverLog struct{ log zerolog.Logger }

func (l serverLog) Write(line []byte) (int, error) {
	l.log.Warn().Str("from", "admin").Msg(strings.TrimSpace(string(line)))
	return len(line), nil
}

// ServeHTTP checks a request and hands it on.
func (a *adminServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if !a.hostAllowed(r.Host) {
		writeError(w, http.StatusMisdirectedRequest,
			fmt.Errorf("the Host header %q names another host; add it to admin.hosts", r.Host))
		return
	}
	if a.token.Set() && r.URL.Path != "/livez" && r.URL.Path != "/readyz" && !a.authorized(r) {
		h.Set("WWW-Authenticate", "Bearer")
		writeError(w, http.StatusUnauthorized,
			errors.New("this needs the header Authorization: Bearer TOKEN, with the daemon's admin.token"))
		return
	}
	if a.rate != nil && r.Method != http.MethodGet && strings.HasPrefix(r.URL.Path, "/api/") && !a.rate.Allow() {
		h.Set("Retry-After", "1")
		writeError(w, http.StatusTooManyRequests,
			fmt.Errorf("there are more than %d requests for changes a second (admin.max_requests_per_second)",
				a.rate.Burst()))
		return
	}
	if r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
		if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
			writeError(w, http.StatusUnsupportedMediaType, errors.New("the Content-Type has to be application/json"))
			return
		}
	}
	r.Body = http.MaxBytesReader(w, r.Body, adminMaxBody)
	a.mux.ServeHTTP(w, r)
}

// hostAllowed keeps web pages from reaching a loopback daemon by a name of their own that resolves to it.
func (a *adminServer) hostAllowed(host string) bool {
	if a.hosts == nil {
		return true // beyond loopback each request carries a token
	}
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return slices.Contains(a.hosts, strings.ToLower(strings.Trim(host, "[]")))
}

func (a *adminServer) authorized(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(a.token.Reveal()))
	return ok && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}
