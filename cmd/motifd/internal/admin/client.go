package admin

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"motifd/cmd/motifd/internal/command"
	"motifd/config"
)

// Client reaches the admin interface of a running daemon. Its fields are flags.
type Client struct {
	URL       string        `help:"Admin interface of the daemon." default:"http://127.0.0.1:7475"`
	TokenFile string        `help:"File with the token of the admin interface." type:"existingfile" placeholder:"FILE"`
	CAFile    string        `help:"${ca_file_help}" type:"existingfile" placeholder:"FILE"`
	Timeout   time.Duration `help:"How long to wait for the daemon." default:"30s"`
}

// HelpTexts are the help texts of flags that are too long for their tags.
var HelpTexts = kong.Vars{"ca_file_help": "PEM file with the authority that signed the daemon's certificate."}

const queriesPath = "/api/v1/queries"

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 20

// Add registers a query, or replaces the one of its name; dry only counts its matches.
func (c *Client) Add(ctx context.Context, q NewQuery, dry bool) (r ChangeResult, err error) {
	path := queriesPath
	if dry {
		path += "?dry_run=true"
	}
	err = c.call(ctx, http.MethodPost, path, q, &r)
	return r, err
}

// List returns the queries.
func (c *Client) List(ctx context.Context) (l QueryList, err error) {
	err = c.call(ctx, http.MethodGet, queriesPath, nil, &l)
	return l, err
}

// Remove removes a query.
func (c *Client) Remove(ctx context.Context, name string) (r ChangeResult, err error) {
	err = c.call(ctx, http.MethodDelete, queriesPath+"/"+url.PathEscape(name), nil, &r)
	return r, err
}

// Resume resumes a suspended query.
func (c *Client) Resume(ctx context.Context, name string) (r ChangeResult, err error) {
	err = c.call(ctx, http.MethodPost, queriesPath+"/"+url.PathEscape(name)+"/resume", struct{}{}, &r)
	return r, err
}

// SeveralLabels reports whether a vertex of the daemon may have several labels.
func (c *Client) SeveralLabels(ctx context.Context) (bool, error) {
	var s struct {
		VertexLabels string `json:"vertex_labels"`
	}
	err := c.call(ctx, http.MethodGet, "/api/v1/status", nil, &s)
	return s.VertexLabels == config.VertexLabelsSeveral, err
}

// LoadVertices loads a JSON array of operations +v and =v.
func (c *Client) LoadVertices(ctx context.Context, updates json.RawMessage) (r LoadResult, err error) {
	err = c.call(ctx, http.MethodPost, "/api/v1/vertices", updates, &r)
	return r, err
}

// call sends a request with a JSON body (none when in is nil) and decodes the answer into out.
func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encoding the request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	if strings.Contains(c.URL, "@") { // and so it is not repeated here
		return command.Refuse(
			errors.New(
				"--url: an address has no user and no password; write http://HOST:PORT or https://HOST:PORT, and " +
					"the token into --token-file",
			))
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.URL, "/")+path, body)
	if err != nil || req.URL.Scheme != "http" && req.URL.Scheme != "https" || req.URL.Host == "" {
		return command.Refuse(fmt.Errorf("--url: %q is not an address of a daemon; write http://HOST:PORT or "+
			"https://HOST:PORT", c.URL))
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	client, err := c.client(req)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &untrusted):
		return fmt.Errorf("reaching the daemon: %w (--ca-file names the authority that signed its certificate)", err)
	case err != nil:
		return fmt.Errorf("reaching the daemon: %w (is motifd running, and its admin interface at %s?)", err, c.URL)
	}
	defer resp.Body.Close() // read to its end, or the call fails anyway
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("reading the daemon's answer: %w", err)
	}
	if resp.StatusCode/100 != 2 {
		var p problem
		if json.Unmarshal(text, &p) != nil || p.Error == "" {
			p.Error = strings.TrimSpace(string(text))
		}
		if resp.StatusCode == http.StatusUnauthorized {
			p.Error += " (--token-file names a file that holds it)"
		}
		return fmt.Errorf("the daemon answered %s: %s", resp.Status, p.Error)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("the daemon's answer is not as expected: %w", err)
	}
	return nil
}

// client returns the HTTP client, and puts the token into the request.
func (c *Client) client(req *http.Request) (*http.Client, error) {
	transport := &http.Transport{Proxy: nil}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, command.Refuse(fmt.Errorf("--ca-file: %w", err))
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, command.Refuse(fmt.Errorf("--ca-file: %s holds no PEM certificate", c.CAFile))
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	if c.TokenFile != "" {
		token, err := os.ReadFile(c.TokenFile)
		if err != nil {
			return nil, command.Refuse(fmt.Errorf("--token-file: %w", err))
		}
		if req.URL.Scheme != "https" && req.URL.Hostname() != "127.0.0.1" && req.URL.Hostname() != "localhost" &&
			req.URL.Hostname() != "::1" {
			return nil, command.Refuse(errors.New("--url: a token goes over https only, beyond this machine"))
		}
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	return &http.Client{Transport: transport}, nil
}
