package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"motifd/cmd/motifd/internal/command"
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
)

// match searches queries in one graph.
type match struct {
	*app
	engine  *matcher.Engine
	backend *timedBackend
	want    matcher.Want
	limit   uint64    // of the rows of a query; 0 for none
	out     io.Writer // nil unless rows are wanted
	enc     stream.Encoder
	recs    []stream.OutRecord

	sum   matchSummary
	known map[string]*matchQuery // queries that were counted, by definition
}

// all searches the queries one by one. The backend keeps what it made for the filters of a query for those behind it.
func (m *match) all(queries []*matcher.Query) error {
	m.sum.Queries = make([]matchQuery, 0, len(queries))
	for i, q := range queries {
		what := q.Name
		if len(queries) > 1 {
			what = fmt.Sprintf("%s (%d of %d)", q.Name, i+1, len(queries))
		}
		found, err := m.search(q, what)
		if err != nil {
			return fmt.Errorf("query %q: %w", q.Name, err)
		}
		m.sum.Queries = append(m.sum.Queries, found)
	}
	return nil
}

// search searches a query, unless an equal one was counted.
func (m *match) search(q *matcher.Query, what string) (found matchQuery, err error) {
	key := ""
	if m.want != matcher.WantRows { // rows show names
		if key, err = definition(q); err != nil {
			return found, err
		}
		if same := m.known[key]; same != nil {
			return matchQuery{Name: q.Name, Matches: same.Matches, Exists: same.Exists, SameAs: same.Name}, nil
		}
	}
	began := time.Now()
	static, err := m.engine.Static(q)
	if err != nil {
		return found, err
	}
	planned := time.Now()
	if err := static.Prepare(); err != nil {
		return found, err
	}
	prepared := time.Now()
	stop := watchSearch(m.app, "searching "+what, m.engine)
	before, records := m.backend.search, uint64(0)
	res, err := static.Search(m.ctx, m.want, m.limit, nil, func(rows matcher.Rows) error {
		ev := &matcher.Event{Batch: uint64(len(m.sum.Queries) + 1), Kind: matcher.EventMatches, Query: q,
			Sign: dyngraph.Inserted, Snapshot: true, FirstIndex: records, Rows: rows,
			View: m.engine.Graph().View(dyngraph.New)}
		records += uint64(rows.Len())
		return m.write(ev)
	})
	stop()
	if err != nil {
		return found, err
	}
	filter, order, took := time.Duration(res.FilterNS), time.Duration(res.OrderNS), m.backend.search-before
	found = matchQuery{Name: q.Name, More: res.Truncated, MatchS: command.Rounded(took),
		FilterS: command.Rounded(prepared.Sub(planned) + filter),
		OrderS:  command.Rounded(planned.Sub(began) + order),
		SearchS: command.Rounded(took - filter - order)}
	if m.want == matcher.WantAny {
		exists := !res.Count.IsZero()
		found.Exists = &exists
	} else {
		found.Matches = &total{res.Count}
	}
	if key != "" {
		m.known[key] = &found
	}
	return found, nil
}

// write writes the rows of an event.
func (m *match) write(ev *matcher.Event) (err error) {
	if m.recs, err = m.enc.Append(m.recs[:0], ev, 0, ev.Records()); err != nil {
		return err
	}
	for i := range m.recs {
		if _, err := m.out.Write(append(m.recs[i].Value, '\n')); err != nil {
			return fmt.Errorf("writing matches: %w", err)
		}
	}
	return nil
}

// definition is equal for queries that differ only in their names, texts and RETURN, and in the names of vertices and
// edges: they have as many matches. Names inside WITH and negations must be equal.
func definition(q *matcher.Query) (string, error) {
	same := *q
	same.Name, same.Source, same.Language, same.Origin, same.Fields = "", "", "", "", nil
	same.Vertices, same.Edges = slices.Clone(q.Vertices), slices.Clone(q.Edges)
	for i := range same.Vertices {
		same.Vertices[i].Name = ""
	}
	for i := range same.Edges {
		same.Edges[i].Name = ""
	}
	text, err := json.Marshal(&same)
	if err != nil {
		return "", err
	}
	return string(text), nil
}

// watchSearch shows, until stop is called, how far the searches of an engine are: how many of the vertices that a match
// may begin with are done. The time that is left is estimated from these.
func watchSearch(a *app, what string, e *matcher.Engine) (stop func()) {
	p := command.NewProgress(a.stderr, what, "roots")
	if p.Silent() {
		return func() {}
	}
	ended, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(command.ProgressEvery)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				if done, all := e.Anchors(); all > 0 {
					p.Update(done, float64(done)/float64(all))
				}
			}
		}
	}()
	return func() {
		close(ended)
		<-over
		p.Done()
	}
}
