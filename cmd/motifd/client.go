package main

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
	"os"
	"strings"
	"time"

	"motifd/cmd/motifd/internal/command"
)

// clientFlags say how a running daemon is reached.
type clientFlags struct {
	URL       string        `help:"Admin interface of the daemon." default:"http://127.0.0.1:7475"`
	TokenFile string        `help:"File with the token of the admin interface." type:"existingfile" placeholder:"FILE"`
	CAFile    string        `help:"${ca_file_help}" type:"existingfile" placeholder:"FILE"`
	Timeout   time.Duration `help:"How long to wait for the daemon." default:"30s"`
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 20

// call sends a request with a JSON body (none when in is nil) and decodes the answer into out.
func (f *clientFlags) call(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, f.Timeout)
	defer cancel()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encoding the request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	if strings.Contains(f.URL, "@") { // and so it is not repeated here
		return command.Refuse(
			errors.New(
				"--url: an address has no user and no password; write http://HOST:PORT or https://HOST:PORT, and " +
					"the token into --token-file",
			))
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(f.URL, "/")+path, body)
	if err != nil || req.URL.Scheme != "http" && req.URL.Scheme != "https" || req.URL.Host == "" {
		return command.Refuse(fmt.Errorf("--url: %q is not an address of a daemon; write http://HOST:PORT or "+
			"https://HOST:PORT", f.URL))
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	client, err := f.client(req)
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
		return fmt.Errorf("reaching the daemon: %w (is motifd running, and its admin interface at %s?)", err, f.URL)
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
func (f *clientFlags) client(req *http.Request) (*http.Client, error) {
	transport := &http.Transport{Proxy: nil}
	if f.CAFile != "" {
		pem, err := os.ReadFile(f.CAFile)
		if err != nil {
			return nil, command.Refuse(fmt.Errorf("--ca-file: %w", err))
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, command.Refuse(fmt.Errorf("--ca-file: %s holds no PEM certificate", f.CAFile))
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	if f.TokenFile != "" {
		token, err := os.ReadFile(f.TokenFile)
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
