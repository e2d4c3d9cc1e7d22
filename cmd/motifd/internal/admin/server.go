package admin

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
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"
	"golang.org/x/time/rate"

	"motifd/cmd/motifd/internal/health"
	"motifd/config"
)

// Bounds on what a client of the admin interface may take.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 15 * time.Second
	writeTimeout  = 2 * time.Minute // CPU profiles take up to a minute
	idleTimeout   = time.Minute
	maxHeader     = 64 << 10
	maxBody       = 2 << 20 // a pattern has at most 1 MiB
	stopTimeout   = 3 * time.Second
)

// Server is the HTTP interface (DESIGN P7), or the part of it at admin.metrics_listen. It is an http.Handler.
type Server struct {
	field    string // of the address
	listen   string // address
	listener net.Listener
	tls      *tls.Config
	hosts    []string // accepted in the Host header; nil accepts any
	token    config.Secret
	log      zerolog.Logger
	mux      *http.ServeMux
	rate     *rate.Limiter // of requests that change something; nil is no bound
}

// Open opens the addresses that the configuration names, so that a taken one is an error at start. The caller serves
// each.
func Open(cfg config.Admin, d Daemon, metrics prometheus.Gatherer, log zerolog.Logger) (out []*Server, err error) {
	defer func() {
		if err == nil {
			return
		}
		for _, s := range out {
			err = errors.Join(err, s.listener.Close())
		}
	}()
	open := func(a *Server, what string) error {
		l, err := net.Listen("tcp", a.listen)
		if err != nil {
			if errors.Is(err, syscall.EADDRINUSE) {
				err = fmt.Errorf("%w; another motifd may be running: stop it, or choose another address", err)
			}
			return fmt.Errorf("%s: %w", a.field, err)
		}
		a.listener = l
		out = append(out, a)
		log.Info().Stringer("address", a.listener.Addr()).Msg(what)
		return nil
	}
	if cfg.Listen != "" {
		a, err := New(cfg, d, metrics, log)
		if err != nil {
			return out, err
		}
		if err := open(a, "admin interface"); err != nil {
			return out, err
		}
	}
	if cfg.MetricsListen != "" {
		a := newProbes("admin.metrics_listen", cfg.MetricsListen, cfg.Hosts, d, metrics, log)
		if err := open(a, "metrics and probes"); err != nil {
			return out, err
		}
	}
	return out, nil
}

// New returns the interface to a daemon, without an open address.
func New(cfg config.Admin, d Daemon, metrics prometheus.Gatherer, log zerolog.Logger) (*Server, error) {
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

// newProbes returns the interface with metrics and probes alone. These show nothing of the graph and change nothing, so
// it needs neither TLS nor a token.
func newProbes(field, listen string, hosts []string, d Daemon, metrics prometheus.Gatherer,
	log zerolog.Logger) *Server {
	a := &Server{field: field, listen: listen, log: log, mux: http.NewServeMux()}
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
			writeText(w, http.StatusServiceUnavailable, health.Class(err))
		}
	})
	a.mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	return a
}

// Serve answers requests until ctx is done. It closes the address that Open opened.
func (a *Server) Serve(ctx context.Context) error {
	s := &http.Server{
		Handler:           a,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		TLSConfig:         a.tls,
		ErrorLog:          stdlog.New(serverLog{a.log}, "", 0),
	}
	served := make(chan error, 1)
	go func() {
		if a.tls != nil {
			served <- s.ServeTLS(a.listener, "", "")
			return
		}
		served <- s.Serve(a.listener)
	}()
	select {
	case err := <-served:
		return fmt.Errorf("admin interface: %w", err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := s.Shutdown(stop); err != nil {
		_ = s.Close() // cuts the connections that are left
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("admin interface: %w", err)
	}
	return nil
}

// serverLog writes the HTTP server's messages about connections to the log. By default they would go to standard error,
// not as JSON.
type serverLog struct{ log zerolog.Logger }

func (l serverLog) Write(line []byte) (int, error) {
	l.log.Warn().Str("from", "admin").Msg(strings.TrimSpace(string(line)))
	return len(line), nil
}

// ServeHTTP checks a request and hands it on.
func (a *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	a.mux.ServeHTTP(w, r)
}

// hostAllowed keeps web pages from reaching a loopback daemon by a name of their own that resolves to it.
func (a *Server) hostAllowed(host string) bool {
	if a.hosts == nil {
		return true // beyond loopback each request carries a token
	}
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return slices.Contains(a.hosts, strings.ToLower(strings.Trim(host, "[]")))
}

func (a *Server) authorized(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(a.token.Reveal()))
	return ok && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}
