package copies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"motifd/stream/checkpoint"
)

// Socket is the name of the socket, in the directory of a checkpoint, on which its daemon answers requests. A process
// that reaches it may read the checkpoint anyway: the directory is its owner's alone.
const Socket = "motifd.sock"

// maxCopies is the maximum number of requests that are served at one time.
const maxCopies = 8

// requestTimeout is the time that a request may take to arrive.
const requestTimeout = 10 * time.Second

// request asks for a backup in the directory To, which is an absolute path on the daemon's host, or with an empty
// one for a copy that is there until the connection ends.
type request struct {
	To string `json:"to"`
}

// answer tells where the copy is, seen from the checkpoint's directory, or why there is none.
type answer struct {
	Name  string `json:"name,omitempty"`
	Error string `json:"error,omitempty"`
}

// Serve answers requests for copies of the store in dir until stop is called; stop waits for backups that are being
// made. Without a socket the daemon goes on, and says so.
func Serve(dir string, store *checkpoint.Store, log zerolog.Logger) (stop func()) {
	path := filepath.Join(dir, Socket)
	_ = os.Remove(path) // of a daemon that was killed; the lock of the directory is ours
	l, err := net.Listen("unix", path)
	if err == nil {
		if err = os.Chmod(path, 0o600); err != nil {
			err = errors.Join(err, l.Close())
		}
	}
	if err != nil {
		log.Warn().Err(err).Msg("commands cannot read the checkpoint while the daemon runs: there is no socket for " +
			"them")
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	room := make(chan struct{}, maxCopies)
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				if ctx.Err() == nil {
					log.Warn().Err(err).Msg("no more copies of the checkpoint can be made until the next start")
				}
				return
			}
			select {
			case room <- struct{}{}:
				all.Go(func() {
					defer func() { <-room }()
					if err := serveOne(ctx, c, store); err != nil {
						log.Warn().Err(err).Msg("copying the checkpoint failed")
					}
				})
			default:
				_ = json.NewEncoder(c).
					Encode(answer{Error: fmt.Sprintf("%d copies are being made or read already", maxCopies)})
					// it may be gone
				_ = c.Close()
			}
		}
	})
	return func() {
		cancel()
		_ = l.Close() // the socket goes with it
		all.Wait()
	}
}

// serveOne serves one request. A copy that is being read when ctx ends is left to its reader, which removes it.
func serveOne(ctx context.Context, c net.Conn, store *checkpoint.Store) (err error) {
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.SetReadDeadline(time.Now()) })()
	if err := c.SetReadDeadline(time.Now().Add(requestTimeout)); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil
	}
	in := json.NewDecoder(c)
	in.DisallowUnknownFields()
	var req request
	if err := in.Decode(&req); err != nil {
		return fmt.Errorf("a request that is not understood: %w", err)
	}
	var reply answer
	remove := func() error { return nil }
	switch {
	case req.To == "":
		reply.Name, remove, err = store.Copy()
	case !filepath.IsAbs(req.To):
		err = fmt.Errorf("%s is not an absolute path", req.To)
	default:
		err = store.Backup(req.To)
	}
	if err != nil {
		reply.Error = err.Error()
	}
	if eerr := json.NewEncoder(c).Encode(reply); eerr != nil || err != nil || req.To != "" {
		return errors.Join(err, removeCopy(eerr != nil, remove))
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil
	}
	_, err = c.Read(make([]byte, 1))
	return removeCopy(!errors.Is(err, os.ErrDeadlineExceeded), remove)
}

// removeCopy removes a copy that has no reader.
func removeCopy(unread bool, remove func() error) error {
	if !unread {
		return nil
	}
	return remove()
}

// ask asks the daemon that runs on a checkpoint; running is false when none answers. The caller closes the
// connection.
func ask(ctx context.Context, dir string, req request) (reply answer, c net.Conn, running bool, err error) {
	var d net.Dialer
	c, err = d.DialContext(ctx, "unix", filepath.Join(dir, Socket))
	if err != nil {
		return reply, nil, false, nil // nobody is there, or the socket of a daemon that was killed
	}
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Now()) })()
	if err = json.NewEncoder(c).Encode(req); err == nil {
		err = json.NewDecoder(c).Decode(&reply)
	}
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil:
		err = fmt.Errorf("checkpoint %s: the daemon gives no copy: %w", dir, err)
	case reply.Error != "":
		err = errors.New(reply.Error)
	}
	if err != nil {
		return reply, nil, true, errors.Join(err, c.Close())
	}
	return reply, c, true, nil
}

// Open returns where a checkpoint can be read: its directory or, while a daemon runs on it, a copy of its present
// state. done removes the copy.
func Open(ctx context.Context, dir string) (path string, done func() error, err error) {
	reply, c, running, err := ask(ctx, dir, request{})
	if err != nil {
		return "", nil, err
	}
	if !running {
		return dir, func() error { return nil }, nil
	}
	path = filepath.Join(dir, reply.Name)
	return path, func() error { return errors.Join(os.RemoveAll(path), c.Close()) }, nil
}

// Backup copies a checkpoint to a directory that must not exist, whether a daemon runs on it or not.
func Backup(ctx context.Context, dir, to string) error {
	to, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	_, c, running, err := ask(ctx, dir, request{To: to})
	switch {
	case err != nil:
		return err
	case running:
		return c.Close()
	}
	return checkpoint.Backup(dir, to, nil)
}
