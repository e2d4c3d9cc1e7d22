package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"motifd/config"
	"motifd/dyngraph/property"
	"motifd/matcher"
)

// Daemon is the part of a running daemon that the admin interface uses. Its methods are safe for concurrent use.
type Daemon interface {
	// Ready returns nil, or why the daemon takes no input at present.
	Ready() error
	// Status returns what /api/v1/status shows.
	Status() Status
	// Queries returns the queries, removed ones too.
	Queries() []Query
	// Change makes a query change in a batch of its own and returns when it is in the batch log, or pending.
	// dry counts the matches of the query in place of registering it.
	Change(ctx context.Context, ch *matcher.QueryChange, dry bool) (ChangeResult, error)
	// Pending returns the changes that wait or are being made.
	Pending() []PendingChange
	// Cancel withdraws the registration of a query that waits, and reports whether there was one. One that is being
	// made is ended: what it has emitted stays, and the query is suspended.
	Cancel(ctx context.Context, name string) (withdrawn bool, err error)
	// Directed tells whether the graph is, and Mode the output mode.
	Directed() bool
	Mode() string
	// LoadVertices applies a JSON array of operations +v and =v in a batch of its own. ErrVertices tells what is wrong
	// with it.
	LoadVertices(ctx context.Context, updates []byte) (LoadResult, error)
	// Schema returns the declared properties, nil for none.
	Schema() *property.Schema
}

// build parses the query.
func (n *NewQuery) build(directed bool, mode string, schema *property.Schema) (*matcher.Query, error) {
	var within config.Span
	if n.Within != "" {
		if err := within.UnmarshalText([]byte(n.Within)); err != nil {
			return nil, fmt.Errorf("%w: within: %w", matcher.ErrQuery, err)
		}
	}
	if (n.Cypher == "") == (n.Text == "") {
		return nil, fmt.Errorf("%w: exactly one of cypher and text gives the pattern", matcher.ErrQuery)
	}
	once, err := n.Once.option()
	if err != nil {
		return nil, err
	}
	q, err := (&config.Query{
		Name: n.Name, Cypher: n.Cypher, Text: n.Text,
		Emit: n.Emit, MatchMode: n.MatchMode, Unit: n.Unit, Backfill: n.Backfill,
		MaxMatchesPerBatch: n.MaxMatchesPerBatch, ExactTotal: n.ExactTotal, WorkBudget: n.WorkBudget,
		OverBudget: n.OverBudget, Sample: n.Sample, OnExpiry: n.OnExpiry, OnChange: n.OnChange,
		Once: once, Mode: n.Mode,
		Within: within, Params: n.Params,
	}).Build(directed, mode, schema)
	if err != nil {
		return nil, err
	}
	q.Origin = "api"
	return q, nil
}

// api answers /api/v1.
type api struct{ d Daemon }

func (a *api) register(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v1/status", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, a.d.Status())
	})
	mux.HandleFunc("GET /api/v1/queries", a.list)
	mux.HandleFunc("POST /api/v1/queries", a.add)
	mux.HandleFunc("DELETE /api/v1/queries/{name}", a.remove)
	mux.HandleFunc("POST /api/v1/queries/{name}/resume", a.resume)
	mux.HandleFunc("POST /api/v1/vertices", a.load)
}

func (a *api) list(w http.ResponseWriter, _ *http.Request) {
	list := QueryList{Queries: []QueryInfo{}, Pending: a.d.Pending()}
	for _, s := range a.d.Queries() {
		if s.Removed {
			continue
		}
		list.Queries = append(list.Queries, s.Info())
	}
	writeJSON(w, http.StatusOK, list)
}

func (a *api) add(w http.ResponseWriter, r *http.Request) {
	var body NewQuery
	if err := decodeStrict(r.Body, &body); err != nil {
		writeError(w, badBody(err), err)
		return
	}
	q, err := body.build(a.d.Directed(), a.d.Mode(), a.d.Schema())
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	ch := &matcher.QueryChange{Add: q}
	if a.find(q.Name) != nil {
		ch.Remove = q.Name
	} else if err := matcher.CheckNewName(q.Name); err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	dry, err := dryRun(r)
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	a.change(w, r, ch, dry)
}

// load loads vertices.
func (a *api) load(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		writeError(w, badBody(err), fmt.Errorf("reading the body: %w", err))
		return
	}
	done, err := a.d.LoadVertices(r.Context(), body)
	switch {
	case err == nil:
		writeJSON(w, http.StatusAccepted, done)
	case errors.Is(err, ErrVertices):
		writeError(w, http.StatusBadRequest, err)
	case errors.Is(err, ErrNotReady):
		writeError(w, http.StatusServiceUnavailable, err)
	default:
		writeError(w, http.StatusInternalServerError, err)
	}
}

// dryRun reads the parameter dry_run.
func dryRun(r *http.Request) (dry bool, err error) {
	for name, values := range r.URL.Query() {
		if name != "dry_run" || len(values) != 1 {
			return false, fmt.Errorf("the only parameter is dry_run=true, not %q", name)
		}
		if dry, err = strconv.ParseBool(values[0]); err != nil {
			return false, fmt.Errorf("dry_run is true or false, not %q", values[0])
		}
	}
	return dry, nil
}

// remove withdraws the registration of a query that waits, or else removes the query. The engine tells whether there
// is one: a registration that it has just begun is not listed yet.
func (a *api) remove(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	switch withdrawn, err := a.d.Cancel(r.Context(), name); {
	case err != nil:
		writeError(w, http.StatusServiceUnavailable, err)
	case withdrawn:
		writeJSON(w, http.StatusAccepted, ChangeResult{Cancelled: true})
	default:
		a.change(w, r, &matcher.QueryChange{Remove: name}, false)
	}
}

// resume registers a suspended query as a new version (DESIGN S11).
func (a *api) resume(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	s := a.find(name)
	switch {
	case s == nil:
		writeError(w, http.StatusNotFound, fmt.Errorf("there is no query %q", name))
		return
	case !s.Suspended:
		writeError(w, http.StatusConflict, fmt.Errorf("query %q is not suspended", name))
		return
	}
	again := *s.Query
	a.change(w, r, &matcher.QueryChange{Add: &again, Remove: name}, false)
}

func (a *api) find(name string) *matcher.QueryState {
	for _, s := range a.d.Queries() {
		if s.Query.Name == name && !s.Removed {
			return &s.QueryState
		}
	}
	return nil
}

func (a *api) change(w http.ResponseWriter, r *http.Request, ch *matcher.QueryChange, dry bool) {
	done, err := a.d.Change(r.Context(), ch, dry)
	var same *matcher.UnchangedError
	switch {
	case err == nil && done.DryRun:
		writeJSON(w, http.StatusOK, done)
	case err == nil:
		writeJSON(w, http.StatusAccepted, done)
	case errors.Is(err, matcher.ErrQuery):
		writeError(w, http.StatusBadRequest, err)
	case errors.As(err, &same):
		writeJSON(w, http.StatusOK, ChangeResult{Version: same.Version, Unchanged: true})
	case errors.Is(err, errPending), errors.Is(err, errRemoval), errors.Is(err, errTooMany),
		errors.Is(err, ErrBackfill), errors.Is(err, errCancelled):
		writeError(w, http.StatusConflict, err)
	case errors.Is(err, matcher.ErrNoQuery):
		writeError(w, http.StatusNotFound, err)
	case errors.Is(err, ErrNotReady):
		writeError(w, http.StatusServiceUnavailable, err)
	default:
		writeError(w, http.StatusInternalServerError, err)
	}
}

// badBody is the status for a body that could not be decoded.
func badBody(err error) int {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

// decodeStrict reads one JSON object into a struct, without unknown or repeated fields.
func decodeStrict(r io.Reader, v any) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("reading the body: %w", err)
	}
	fields := make(map[string]reflect.Value)
	for f, value := range reflect.ValueOf(v).Elem().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[name] = value
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("the body has to be one JSON object")
	}
	seen := make(map[string]bool)
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return fmt.Errorf("the body is not JSON: %w", err)
		}
		name, _ := t.(string) // the decoder takes nothing else for a name
		field, ok := fields[name]
		if !ok {
			return unknownField(name, slices.Sorted(maps.Keys(fields)))
		}
		if seen[name] {
			return fmt.Errorf("the field %q is given twice", name)
		}
		seen[name] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return fmt.Errorf("the field %q is not JSON: %w", name, err)
		}
		if err := decodeField(name, value, field); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return errors.New("the body ends inside its JSON object")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the body has something after the JSON object")
	}
	return nil
}

func unknownField(name string, known []string) error {
	if near := matcher.Nearest(name, known); near != "" {
		return fmt.Errorf("the field %q is unknown; did you mean %q?", name, near)
	}
	return fmt.Errorf("the field %q is unknown; there are %s", name, strings.Join(known, ", "))
}

// decodeField decodes one value. Package json puts U+FFFD in place of what is not UTF-8: such a text is refused, for
// no label of the graph is like it.
func decodeField(name string, value json.RawMessage, field reflect.Value) error {
	if err := json.Unmarshal(value, field.Addr().Interface()); err != nil {
		if field.Kind() == reflect.Map {
			return fmt.Errorf("the field %q has to be an object {NAME: VALUE}: %w", name, err)
		}
		want := map[reflect.Kind]string{
			reflect.String: "a string", reflect.Bool: "true or false",
			reflect.Uint64: "a whole number from 0 to 2^64-1",
		}[field.Kind()]
		return fmt.Errorf("the field %q is %.40s; it has to be %s", name, value, want)
	}
	const replaced = string(utf8.RuneError)
	if field.Kind() == reflect.String {
		written := bytes.Count(value, []byte(replaced)) + bytes.Count(bytes.ToLower(value), []byte(`\ufffd`))
		if strings.Count(field.String(), replaced) > written {
			return fmt.Errorf("the field %q has bytes that are not UTF-8, or half of a surrogate pair, which would be "+
				"read as U+FFFD", name)
		}
	}
	return nil
}

func writeText(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text+"\n") // a client that went away
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		writeText(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(append(text, '\n')) // a client that went away
}

func writeError(w http.ResponseWriter, code int, err error) {
	writeJSON(w, code, problem{err.Error()})
}
