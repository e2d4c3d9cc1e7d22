package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"motifd/cmd/motifd/internal/admin"
	"motifd/cmd/motifd/internal/command"
)

// verticesCmd changes the vertices of a running daemon.
type verticesCmd struct {
	Load verticesLoadCmd `cmd:"" help:"Set properties of the vertices of a file, a watch-list for example."`
}

type verticesLoadCmd struct {
	File         string `arg:"" help:"File: .csv with a header, or .jsonl with updates +v and =v." type:"existingfile"`
	Label        string `help:"Label of the vertices of a CSV file without a column of labels." placeholder:"LABEL"`
	admin.Client `embed:""`
}

func (verticesLoadCmd) Help() string {
	return `A CSV file has a column key, perhaps one label, and a column for each property that it sets. An empty
cell removes the property. Vertices that are not there yet are declared.

With graph.vertex_labels: several, the column label or labels, or --label, has labels to add, or with - before them to
remove, with ; between them: Blocked;-Trusted. The other labels of the vertex stay. Such a file needs no property.

Examples:
  motifd vertices load watch.csv --label=Account
  motifd vertices load risks.jsonl`
}

// Bounds of one request, each of which is a batch.
const (
	loadUpdates = 5000
	loadBytes   = 1 << 20
)

// Run sends the file's updates to the daemon, one batch after the other.
func (c *verticesLoadCmd) Run(a *app) error {
	f, err := os.Open(c.File)
	if err != nil {
		return command.Refuse(fmt.Errorf("reading the vertices: %w", err))
	}
	defer f.Close() // it is only read
	s := &vertexSender{ctx: a.ctx, client: &c.Client}
	switch ext := filepath.Ext(c.File); {
	case ext == ".csv":
		var several bool
		if several, err = c.SeveralLabels(a.ctx); err == nil {
			err = vertexRows(f, c.Label, several, s.add)
		}
	case ext == ".jsonl" && c.Label != "":
		err = command.Refuse(errors.New("--label is for CSV files; an update in JSON has its own"))
	case ext == ".jsonl":
		err = vertexLines(f, s.add)
	default:
		err = command.Refuse(fmt.Errorf("%s: the extension is neither .csv nor .jsonl", c.File))
	}
	if err == nil {
		err = s.flush()
	}
	if err != nil {
		return fmt.Errorf("%s: %w (loaded before: %s)", c.File, err, plural(s.loaded, "update"))
	}
	_, err = fmt.Fprintf(a.stdout, "%s loaded, the last one in batch %d\n", plural(uint64(s.loaded), "update"), s.batch)
	return err
}

// vertexSender collects updates and sends them.
type vertexSender struct {
	ctx    context.Context
	client *admin.Client
	body   []byte // an open JSON array
	lines  []int  // of its updates, in the file
	loaded int
	batch  uint64 // the last one
}

// add takes one update as JSON, from a line of the file.
func (s *vertexSender) add(line int, update []byte) error {
	if n := len(s.lines); n == loadUpdates || n > 0 && len(s.body)+len(update) > loadBytes {
		if err := s.flush(); err != nil {
			return err
		}
	}
	open := byte(',')
	if len(s.lines) == 0 {
		open = '['
	}
	s.body = append(append(s.body, open), update...)
	s.lines = append(s.lines, line)
	return nil
}

func (s *vertexSender) flush() error {
	if len(s.lines) == 0 {
		return nil
	}
	r, err := s.client.LoadVertices(s.ctx, json.RawMessage(append(s.body, ']')))
	if err != nil {
		return s.locate(err)
	}
	s.loaded, s.batch = s.loaded+r.Updates, r.Batch
	s.body, s.lines = s.body[:0], s.lines[:0]
	return nil
}

// refusedUpdate is how the daemon names an update of a request, by its place in the array.
var refusedUpdate = regexp.MustCompile(`\b(?:update|element) (\d+)\b`)

// locate puts the line of the file in front of an error that names an update.
func (s *vertexSender) locate(err error) error {
	if m := refusedUpdate.FindStringSubmatch(err.Error()); m != nil {
		if i, no := strconv.Atoi(m[1]); no == nil && i < len(s.lines) {
			return fmt.Errorf("line %d: %w", s.lines[i], err)
		}
	}
	return err
}

// vertexLines hands on the lines of a file that are not blank.
func vertexLines(r io.Reader, add func(line int, update []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, loadBytes)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if !json.Valid(line) {
			return fmt.Errorf("line %d is not JSON; each line is an update such as %s", n,
				`{"op":"=v","key":"a1","props":{"blocked":true}}`)
		}
		if err := add(n, line); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading a line of at most %d bytes: %w", loadBytes, err)
	}
	return nil
}

// vertexRow is an update =v of a CSV row. Cells are strings, which stand for values of all types.
type vertexRow struct {
	Op     string             `json:"op"`
	Key    string             `json:"key"`
	Label  string             `json:"label,omitempty"`
	Labels []string           `json:"labels,omitzero"` // where a vertex may have several
	Props  map[string]*string `json:"props,omitzero"`
}

// setLabels takes the label that a row has, or the changes of labels where a vertex may have several.
func (u *vertexRow) setLabels(cell string, several bool) {
	if !several {
		u.Label = cell
		return
	}
	if u.Labels = []string{}; cell == "" {
		return
	}
	for l := range strings.SplitSeq(cell, ";") {
		if !strings.HasPrefix(l, "+") && !strings.HasPrefix(l, "-") {
			l = "+" + l
		}
		u.Labels = append(u.Labels, l)
	}
}

// vertexHeader is the header of a CSV file.
type vertexHeader struct {
	names       []string
	key, labels int // columns; labels is -1 without one
}

func readVertexHeader(rows *csv.Reader, label string, several bool) (h vertexHeader, err error) {
	header, err := rows.Read()
	if err != nil {
		return h, fmt.Errorf("the header row: %w", err)
	}
	header = slices.Clone(header)
	header[0] = string(bytes.TrimPrefix([]byte(header[0]), []byte("\uFEFF"))) // spreadsheets write a byte order mark
	h = vertexHeader{header, slices.Index(header, "key"), slices.Index(header, "label")}
	if h.key < 0 {
		return h, fmt.Errorf("the header has no column key; it has %q", header)
	}
	for i, name := range header {
		if slices.Contains(header[:i], name) {
			return h, fmt.Errorf("the header has the column %q twice", name)
		}
	}
	if list := slices.Index(header, "labels"); several && list >= 0 {
		if h.labels >= 0 {
			return h, errors.New("the header has the columns label and labels; all labels stand in one")
		}
		h.labels = list
	}
	if h.labels >= 0 && label != "" {
		return h, command.Refuse(fmt.Errorf("--label does not go with a column %s", header[h.labels]))
	}
	return h, nil
}

// vertexRows hands on an update for each row of a CSV file.
func vertexRows(r io.Reader, label string, several bool, add func(line int, update []byte) error) error {
	rows := csv.NewReader(r)
	rows.ReuseRecord = true
	h, err := readVertexHeader(rows, label, several)
	if err != nil {
		return err
	}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err // with the line
		}
		text, err := json.Marshal(h.update(row, label, several))
		if err != nil {
			return fmt.Errorf("encoding the row of %q: %w", row[h.key], err)
		}
		line, _ := rows.FieldPos(0)
		if err := add(line, text); err != nil {
			return err
		}
	}
}

// update returns the update of a row.
func (h *vertexHeader) update(row []string, label string, several bool) vertexRow {
	u := vertexRow{Op: "=v", Key: row[h.key], Props: map[string]*string{}}
	if h.labels >= 0 {
		label = row[h.labels]
	}
	if h.labels >= 0 || label != "" {
		u.setLabels(label, several)
	}
	for i, name := range h.names {
		switch {
		case i == h.key || i == h.labels:
		case row[i] == "":
			u.Props[name] = nil
		default:
			cell := row[i]
			u.Props[name] = &cell
		}
	}
	if u.Labels != nil && len(u.Props) == 0 {
		u.Props = nil // perhaps none is declared
	}
	return u
}
