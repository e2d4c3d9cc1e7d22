package config

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"motifd/stream/kafka"
)

// Reloads receives what becomes of certificates and secrets in files, which are read again when they are used: a nil
// error when what the files hold has changed and is in use now; an error, once, when they cannot be used, so that what
// was read last stays. It is called from several goroutines, and must not block.
type Reloads func(path string, err error)

// OnReload sets who is told. Call it before anything is used.
func (c *Config) OnReload(f Reloads) {
	if c.src == nil {
		c.src = newSources()
	}
	c.src.reloads = f
}

func (s *sources) reloaded(path string, err error) {
	if s != nil && s.reloads != nil {
		s.reloads(path, err)
	}
}

// reloading holds the parsed content of some files, and parses them again when they change. It is safe for concurrent
// use.
type reloading[T any] struct {
	path  string // of the field, for Reloads
	files []string
	parse func([][]byte) (T, error)
	src   *sources

	mu   sync.Mutex
	seen [][]byte // content that was parsed last
	good T
	err  string // error that was told last
}

// reload reads and parses the files. Files that are no regular ones, such as pipes, are read this once.
func reload[T any](src *sources, path string, files []string, parse func([][]byte) (T, error)) (*reloading[T], error) {
	r := &reloading[T]{path: path, files: files, parse: parse, src: src}
	texts, err := r.read()
	if err != nil {
		return nil, err
	}
	if r.good, err = parse(texts); err != nil {
		return nil, err
	}
	r.seen = texts
	for _, f := range files {
		if info, err := os.Stat(f); f != "" && (err != nil || !info.Mode().IsRegular()) {
			r.files = nil
			break
		}
	}
	return r, nil
}

// get returns what the files hold, or held when they could be used last.
func (r *reloading[T]) get() T {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.files == nil {
		return r.good
	}
	texts, err := r.read()
	if err == nil {
		if slices.EqualFunc(texts, r.seen, bytes.Equal) && r.err == "" {
			return r.good
		}
		var v T
		if v, err = r.parse(texts); err == nil {
			r.seen, r.good, r.err = texts, v, ""
			r.src.reloaded(r.path, nil)
			return r.good
		}
	}
	if r.err != err.Error() {
		r.err = err.Error()
		r.src.reloaded(r.path, err)
	}
	return r.good
}

// maxSecretFile bounds files with secrets and certificates, in bytes: the authorities of a system take less.
const maxSecretFile = 4 << 20

// read reads the files; of one without name it returns nil.
func (r *reloading[T]) read() ([][]byte, error) {
	texts := make([][]byte, len(r.files))
	for i, name := range r.files {
		if name == "" {
			continue
		}
		text, err := readSecretFile(name)
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}
	return texts, nil
}

// readSecretFile reads a file. Errors leave out its name, which may be a secret that was written in place of the name.
func readSecretFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("the file cannot be read: %w", withoutName(err))
	}
	defer f.Close() // opened for reading: closing it can lose nothing
	text, err := io.ReadAll(io.LimitReader(f, maxSecretFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the file cannot be read: %w", withoutName(err))
	case len(text) > maxSecretFile:
		return nil, fmt.Errorf("the file has more than %d bytes", maxSecretFile)
	}
	return text, nil
}

// withoutName returns what went wrong with a file, without the file's name.
func withoutName(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// secretOf is the secret that a file holds.
func secretOf(texts [][]byte) (string, error) {
	value := string(bytes.TrimRight(texts[0], "\r\n"))
	if value == "" {
		return "", errors.New("the secret is empty")
	}
	return value, nil
}

// files lists the files that the section names.
func (t *TLS) files() []string { return []string{t.CAFile, t.CertFile, t.KeyFile} }

// config returns what gives the TLS configuration of a new connection.
func (t *TLS) config(src *sources, path string) (*reloading[*tls.Config], error) {
	return reload(src, path, t.files(), func(pem [][]byte) (*tls.Config, error) {
		return kafka.TLSConfig(pem[0], pem[1], pem[2], t.ServerName)
	})
}

// ServerTLS returns the TLS configuration of the admin interface, nil for none. A new connection has the certificate
// that the files hold when it is made.
func (a *Admin) ServerTLS() (*tls.Config, error) {
	t := a.TLS
	if t == nil {
		return nil, nil
	}
	pair, err := reload(t.src, "admin.tls", []string{t.CertFile, t.KeyFile},
		func(pem [][]byte) (*tls.Certificate, error) {
			c, err := tls.X509KeyPair(pem[0], pem[1])
			return &c, err
		})
	if err != nil {
		return nil, fmt.Errorf("admin.tls: %w", err)
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return pair.get(), nil },
	}, nil
}
