package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"motifd/cmd/motifd/internal/command"
	"motifd/config"
	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/stream"
	"motifd/stream/codec"
	"motifd/stream/file"
)

// graphFlags say how graph and update files are read.
type graphFlags struct {
	Undirected bool   `help:"The graph is undirected."`
	CSV        string `name:"csv" help:"${csv_help}" placeholder:"FIELD=COL,..."`
	Properties string `help:"${properties_help}" placeholder:"FILE_OR_YAML"`

	EdgeIdentity string `help:"${edge_identity_help}" enum:",ends,id" default:"" placeholder:"WHAT"`
	VertexLabels string `help:"${vertex_labels_help} (default: ${default})." enum:"one,several" default:"one"`

	patternFlags `embed:""`

	MaxExpansion int `help:"${max_expansion_help} (default: ${default})." default:"1000" placeholder:"N"`

	declared *property.Schema // the content of schema
}

// patternFlags are the flags that belong to a pattern: its match mode, window and parameters.
type patternFlags struct {
	MatchMode string `help:"${match_mode_help}" enum:"isomorphism,homomorphism,trail" default:"isomorphism"`

	Within config.Span `help:"${within_help}" placeholder:"TIME"`
	Param  []string    `help:"${param_help}" placeholder:"NAME=VALUE" sep:"none"`
}

// params returns what the parameters are bound to, as in a configuration file.
func (f *patternFlags) params() (config.Params, error) {
	params := make(config.Params, len(f.Param))
	for _, arg := range f.Param {
		name, text, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, command.Refuse(fmt.Errorf("--param: %q is not NAME=VALUE, as in big=500", arg))
		}
		if _, ok := params[name]; ok {
			return nil, command.Refuse(fmt.Errorf("--param: the parameter %q is given twice", name))
		}
		p, err := config.ParseParam(text)
		if err != nil {
			return nil, command.Refuse(fmt.Errorf("--param: %s: %w", name, err))
		}
		params[name] = p
	}
	return params, nil
}

// schema returns the declared properties, from a file or from the flag itself, and whether a vertex may have several
// labels; nil for neither. It is read once: a pipe has its text once only.
func (f *graphFlags) schema() (*property.Schema, error) {
	if f.declared != nil {
		return f.declared, nil
	}
	declared := &property.Schema{}
	switch f.Properties {
	case "":
		if !f.severalLabels() {
			return nil, nil
		}
	case inferProperties:
		return nil, command.Refuse(errors.New("--properties=infer: there is no file to infer them from"))
	default:
		var err error
		if declared, err = f.parseProperties(); err != nil {
			return nil, command.Refuse(err)
		}
	}
	declared.SeveralLabels = f.severalLabels()
	if err := declared.Validate(); err != nil {
		return nil, command.Refuse(fmt.Errorf("--properties: %w", err))
	}
	f.declared = declared
	return declared, nil
}

func (f *graphFlags) parseProperties() (*property.Schema, error) {
	name, text := "--properties", []byte(f.Properties)
	if !strings.Contains(f.Properties, ": ") && !strings.HasPrefix(strings.TrimSpace(f.Properties), "{") {
		file, err := os.ReadFile(f.Properties)
		if err != nil {
			return nil, fmt.Errorf("--properties: %w; the text itself has edges: {..}", err)
		}
		name, text = f.Properties, file
	}
	return config.ParseProperties(name, text)
}

// severalLabels tells whether a vertex may have several labels.
func (f *graphFlags) severalLabels() bool { return f.VertexLabels == config.VertexLabelsSeveral }

// edgeIDs tells whether ids identify edges; the default is that of the configuration.
func (f *graphFlags) edgeIDs() bool {
	return f.EdgeIdentity == config.EdgeIdentityID || f.EdgeIdentity == "" && f.Properties != ""
}

// options returns the options of an empty graph.
func (f *graphFlags) options() (dyngraph.Options, error) {
	schema, err := f.schema()
	return dyngraph.Options{Directed: !f.Undirected, EdgeIDs: f.edgeIDs(), Schema: schema, Background: beside}, err
}

// loadChunk is the number of updates that are applied at once when a graph is loaded. Larger chunks put more of the
// array in at a time, but outgrow the caches: 1 << 16 takes a tenth more time for a graph of 150,000 edges, as long for
// one of 2,500,000, and more memory for both.
const loadChunk = 1 << 14

// loadBlock is the number of updates that lie together while a graph is loaded.
const loadBlock = 1 << 10

// input is how one file is read.
type input struct {
	path, format string
	dec          stream.Decoder
	onDamage     file.OnDamage
	maxExpansion int
	noHeader     bool // of CSV: the first line is a record
	comma        byte // of CSV; 0 is the comma
}

// input tells the format of a file by its extension, unless it is given.
func (f *graphFlags) input(path, format string) (*input, error) {
	schema, err := f.schema()
	if err != nil {
		return nil, err
	}
	return f.inputWith(path, format, codec.DecoderOptions{EdgeIDs: f.edgeIDs(), Schema: schema})
}

// inputWith is input with options of the decoder.
func (f *graphFlags) inputWith(path, format string, opt codec.DecoderOptions) (*input, error) {
	if format == "" {
		var err error
		if format, err = config.FormatOf(path); err != nil {
			return nil, command.Refuse(err)
		}
	}
	if f.MaxExpansion < 1 {
		return nil, command.Refuse(fmt.Errorf("--max-expansion: %d is out of range; it is at least 1", f.MaxExpansion))
	}
	dec, err := newDecoder(format, f.CSV, opt)
	return &input{path: path, format: format, dec: dec, onDamage: file.DamageStop, maxExpansion: f.MaxExpansion}, err
}

func newDecoder(format, columns string, opt codec.DecoderOptions) (stream.Decoder, error) {
	switch {
	case format == codec.FormatCSV && columns == "":
		return nil, command.Refuse(errors.New("--csv is missing; CSV needs it, as in from=SOURCE,to=TARGET,label=KIND"))
	case format == codec.FormatCSV:
		m, err := codec.ParseMapping(columns)
		if err != nil {
			return nil, command.Refuse(fmt.Errorf("--csv: %w", err))
		}
		opt.Mapping = m
	}
	d, err := codec.NewDecoder(format, opt)
	if err != nil {
		return nil, command.Refuse(err)
	}
	return d, nil
}

// loadGraph adds the content of a file to a graph, without matching anything. A record that cannot be decoded or
// applied is an error that names the file and the line.
func loadGraph(a *app, g *dyngraph.Graph, in *input) (took time.Duration, err error) {
	begin := time.Now()
	src, err := in.open(a.stdin)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	p := command.NewProgress(a.stderr, "loading "+in.path, "updates")
	defer p.Done()
	l := &loader{ctx: a.ctx, g: g, path: in.path, progress: p, src: src,
		msgs: make([]dyngraph.Message, 0, loadChunk), offsets: make([]int64, 0, loadChunk)}
	for {
		recs, rerr := src.Read(a.ctx)
		if damaged := (*file.DamageError)(nil); errors.As(rerr, &damaged) {
			return 0, command.Refuse(rerr)
		}
		if rerr != nil && !errors.Is(rerr, io.EOF) {
			return 0, fmt.Errorf("reading %s: %w", in.path, rerr)
		}
		for _, rec := range recs {
			if err := l.record(rec, in.dec); err != nil {
				return 0, err
			}
		}
		if rerr != nil {
			return time.Since(begin), l.flush()
		}
	}
}

// open returns a source of the records of the file or directory, or of standard input for -.
func (in *input) open(stdin io.Reader) (*file.Source, error) {
	opt := file.SourceOptions{
		Path: in.path, In: stdin, MaxRecordBytes: maxRecord, OnDamage: in.onDamage, MaxExpansion: in.maxExpansion,
	}
	if in.format == codec.FormatCSV {
		opt.Framing, opt.NoHeader, opt.Comma = file.FramingCSV, in.noHeader, in.comma
	}
	src, err := file.NewSource(opt)
	if err != nil {
		return nil, command.Refuse(err)
	}
	return src, nil
}

// maxRecord bounds a record of a graph or update file: the decoders' own bound.
const maxRecord = 4 << 20

// lineAt returns the line of a file at a byte offset of what it decompresses to.
func lineAt(ctx context.Context, path string, offset int64) (line int, err error) {
	src, err := file.NewSource(file.SourceOptions{Path: path, MaxRecordBytes: 1 << 30})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	for line = 0; ; {
		recs, err := src.Read(ctx)
		for i := range recs {
			if recs[i].Partition > 0 || recs[i].Offset > offset {
				return line, nil
			}
			line++
		}
		if errors.Is(err, io.EOF) {
			return line, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// loader applies records in chunks. The updates of a chunk lie in blocks, so that none is copied as they become more;
// later chunks use the blocks again.
type loader struct {
	ctx      context.Context
	g        *dyngraph.Graph
	path     string
	progress *command.Progress
	src      *file.Source

	blocks  [][]dyngraph.Update
	filling int // the block that takes the next record
	updates int // in all blocks
	msgs    []dyngraph.Message
	offsets []int64 // of the messages
	done    uint64
}

func (l *loader) record(rec stream.Record, dec stream.Decoder) error {
	err := rec.Err
	block := l.block()
	begin := len(*block)
	if err == nil {
		*block, err = dec.Decode(rec, *block)
	}
	if err != nil {
		return command.Refuse(fmt.Errorf("%s: %w", l.place(rec.Offset), err))
	}
	u := (*block)[begin:len(*block):len(*block)]
	if len(u) == 0 {
		return nil
	}
	l.msgs = append(l.msgs, dyngraph.Message{Updates: u})
	l.offsets = append(l.offsets, rec.Offset)
	if l.updates += len(u); l.updates >= loadChunk {
		return l.flush()
	}
	return nil
}

// block returns the block that takes the next record, which has room for one update at least: a record of more may
// make it grow.
func (l *loader) block() *[]dyngraph.Update {
	if l.filling < len(l.blocks) && len(l.blocks[l.filling]) == cap(l.blocks[l.filling]) {
		l.filling++
	}
	if l.filling == len(l.blocks) {
		l.blocks = append(l.blocks, make([]dyngraph.Update, 0, loadBlock))
	}
	return &l.blocks[l.filling]
}

// flush applies what was collected.
func (l *loader) flush() error {
	accepted, rejects := l.g.Accept(l.msgs)
	if len(rejects) > 0 {
		r := rejects[0]
		return command.Refuse(fmt.Errorf("%s: %w", l.place(l.offsets[r.Message]), r.Err))
	}
	if _, err := l.g.Stage(accepted); err != nil {
		return fmt.Errorf("loading %s: %w", l.path, err)
	}
	l.g.Commit()
	l.done += uint64(len(accepted))
	l.progress.Update(l.done, part(l.src))
	for i := range l.blocks {
		clear(l.blocks[i]) // lets the records go
		l.blocks[i] = l.blocks[i][:0]
	}
	l.msgs, l.offsets, l.filling, l.updates = l.msgs[:0], l.offsets[:0], 0, 0
	return nil
}

// part tells how much of the source was read, 0 when unknown.
func part(src *file.Source) float64 {
	done, total := src.Progress()
	if total == 0 {
		return 0
	}
	return float64(done) / float64(total)
}

// place names the line of the file that begins at an offset.
func (l *loader) place(offset int64) string { return placeIn(l.ctx, l.path, offset) }

func placeIn(ctx context.Context, path string, offset int64) string {
	if path != file.Stdin {
		if line, err := lineAt(ctx, path, offset); err == nil {
			return fmt.Sprintf("%s:%d", path, line)
		}
	}
	return fmt.Sprintf("%s: byte %d", path, offset)
}
