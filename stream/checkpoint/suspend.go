package checkpoint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"motifd/matcher"
)

// Suspension is the state of a request to suspend a query.
type Suspension struct {
	// Already: the query is suspended as it is, and nothing is to be done.
	Already bool
	// Open are the batches in progress; the request takes effect in the first of them that has a record which is not
	// published.
	Open []uint64
}

// Suspend asks the next daemon that opens the checkpoint in dir to suspend a query, before it publishes anything more
// of it; fs nil is the operating system's file system. It fails as Open does, with ErrNone, or with matcher.ErrNoQuery.
func Suspend(dir string, fs vfs.FS, query string) (Suspension, error) {
	s, err := Open(dir, Options{FS: fs, existing: true})
	if err != nil {
		return Suspension{}, err
	}
	got, err := s.Suspend(query)
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	return got, err
}

// Suspend stores the request to suspend a query that is registered, or that an open intent registers. It is durable
// when Suspend returns, and goes with the commit of the batch in which the query is suspended or removed. It is called
// before ToSuspend is asked for.
func (s *Store) Suspend(query string) (Suspension, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opt.ReadOnly {
		return Suspension{}, errReadOnly
	}
	out := Suspension{}
	names, already := []string{}, false
	for i := range s.queries {
		if q := &s.queries[i]; !q.Removed {
			names = append(names, q.Query.Name)
			already = already || q.Suspended && q.Query.Name == query
		}
	}
	for _, e := range s.log.open {
		in, err := s.db.readIntent(e)
		if err != nil {
			return out, fmt.Errorf("checkpoint %s: %w", s.db.dir, err)
		}
		if ch := in.batch.Change; ch != nil && ch.Add != nil {
			names = append(names, ch.Add.Name)
			already = already && ch.Add.Name != query // the intent resumes it
		}
		out.Open = append(out.Open, e.batch)
	}
	slices.Sort(names)
	if names = slices.Compact(names); !slices.Contains(names, query) {
		return out, fmt.Errorf("checkpoint %s: %w: %q; %s", s.db.dir, matcher.ErrNoQuery, query, listed(names))
	}
	if out.Already = already; already || slices.Contains(s.suspend, query) {
		return out, nil
	}
	suspend := append(slices.Clone(s.suspend), query)
	b := s.db.NewBatch()
	defer b.Close()
	format := formatValue(max(s.db.format, plainFormat)) // older versions do not know it
	if err := errors.Join(setSuspend(b, suspend), b.Set(keyFormat, format, nil)); err != nil {
		return out, err
	}
	if err := s.db.apply(b); err != nil {
		return out, err
	}
	s.suspend = suspend
	return out, nil
}

// listed says which queries there are.
func listed(names []string) string {
	if len(names) == 0 {
		return "it has no queries"
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return "it has " + strings.Join(quoted, ", ")
}

// ToSuspend returns the names of the queries that are to be suspended; see matcher.EngineOptions.Suspend.
func (s *Store) ToSuspend() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.suspend)
}

// leftToSuspend returns the requests that are not done when the queries are these. A query that is not there yet is one
// that an open intent registers.
func leftToSuspend(suspend []string, queries []matcher.QueryState) (left []string) {
	for _, name := range suspend {
		i := slices.IndexFunc(queries, func(q matcher.QueryState) bool { return q.Query.Name == name })
		if i < 0 || !queries[i].Suspended && !queries[i].Removed {
			left = append(left, name)
		}
	}
	return left
}

// setSuspend stores the requests.
func setSuspend(b *pebble.Batch, names []string) error {
	if len(names) == 0 {
		return b.Delete(keySuspend, nil)
	}
	return setChecksummed(b, keySuspend, appendNames([]byte{codecVersion}, names))
}
