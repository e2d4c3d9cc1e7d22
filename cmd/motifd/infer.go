package main

import (
	"errors"
	"fmt"
	"io"

	"motifd/cmd/motifd/internal/command"
	"motifd/config"
	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/stream/codec"
	"motifd/stream/file"
)

// inferProperties is the value of --properties that declares what the files have.
const inferProperties = "infer"

// updateFile names a file of updates and its format, "" for that of the extension.
type updateFile struct{ path, format string }

// infer reads the files and declares the properties that they have, if --properties asks for it, and says so on
// standard error. It comes before anything that reads patterns or a graph.
func (f *graphFlags) infer(a *app, files ...updateFile) error {
	if f.Properties != inferProperties {
		return nil
	}
	all := codec.NewInference()
	all.SeveralLabels = f.severalLabels()
	for _, x := range files {
		if x.path == file.Stdin {
			return command.Refuse(errors.New("--properties=infer reads the updates twice, and standard input comes " +
				"once; write it to a file, or declare the properties"))
		}
		if err := f.inferFrom(a, x, all); err != nil {
			return err
		}
	}
	schema, undeclared := all.Schema()
	for _, why := range undeclared {
		if _, err := fmt.Fprintln(a.stderr, "not declared:", why); err != nil {
			return err
		}
	}
	if f.declared = schema; schema == nil {
		f.Properties = "" // with several labels, schema makes what is left
		_, err := fmt.Fprintln(a.stderr, "--properties=infer: the updates have no property, and nothing is declared")
		return err
	}
	schema.SeveralLabels = f.severalLabels()
	_, err := fmt.Fprintf(a.stderr, "--properties='%s'\n", config.FormatProperties(schema))
	return err
}

// inferFrom adds what the updates of a file have. Records that cannot be decoded are left to those who read the file
// for its updates.
func (f *graphFlags) inferFrom(a *app, x updateFile, all *codec.Inference) (err error) {
	in, err := f.inputWith(x.path, x.format, codec.DecoderOptions{KeepProps: true,
		Schema: &property.Schema{SeveralLabels: f.severalLabels()}})
	if err != nil {
		return err
	}
	in.onDamage = file.DamageSkip
	src, err := in.open(a.stdin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	p := command.NewProgress(a.stderr, "reading the properties of "+x.path, "updates")
	defer p.Done()
	var updates []dyngraph.Update
	for done := uint64(0); ; {
		recs, rerr := src.Read(a.ctx)
		if rerr != nil && !errors.Is(rerr, io.EOF) {
			return fmt.Errorf("reading %s: %w", x.path, rerr)
		}
		for i := range recs {
			if recs[i].Err != nil {
				continue
			}
			var bad error
			if updates, bad = in.dec.Decode(recs[i], updates[:0]); bad != nil {
				continue
			}
			for k := range updates {
				if err := all.Add(&updates[k], in.format); err != nil {
					return fmt.Errorf("%s: %w", placeIn(a.ctx, x.path, recs[i].Offset), err)
				}
			}
			done += uint64(len(updates))
		}
		if rerr != nil {
			return nil
		}
		p.Update(done, part(src))
	}
}
