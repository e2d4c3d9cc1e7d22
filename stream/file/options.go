package file

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Framing is how a file is cut into records.
type Framing string

// The framings.
const (
	FramingLines Framing = "lines" // a record a line: JSON, text
	FramingCSV   Framing = "csv"   // a record a row; a quoted field may span lines
)

// DefaultMaxExpansion is the default of SourceOptions.MaxExpansion: text of repeated updates reaches a few hundred.
const DefaultMaxExpansion = 1000

// OnDamage tells how to go on after a file that cannot be read to its end: its compressed data is truncated, corrupt or
// beyond MaxExpansion, or the header row of its CSV is unreadable.
type OnDamage string

// The choices of OnDamage.
const (
	DamageStop OnDamage = "stop" // Read returns a *DamageError, and again when it is called again
	DamageSkip OnDamage = "skip" // the rest of the file becomes one record with an error; the next file follows
)

// Stdin and Stdout as a path name standard input and output; None as an output discards.
const (
	Stdin  = "-"
	Stdout = "-"
	None   = "none"
)

// SourceOptions configure a Source.
type SourceOptions struct {
	// Path is a file, a directory whose regular files are read in the order of their names (hidden ones and
	// subdirectories are not read), or Stdin. A named pipe is read like standard input.
	Path string
	// Known is the names of a directory's files by partition, as a Source over it had them before (Names): positions
	// are of these.
	Known []string
	// Framing is how records are cut. Default FramingLines.
	Framing Framing
	// NoHeader tells that CSV files begin with a record; otherwise the first row of each is its header.
	NoHeader bool
	// Comma separates the fields of CSV rows. Default ','.
	Comma byte
	// Compression of the files. Default CompressionAuto.
	Compression Compression
	// MaxRecordBytes bounds a record; a longer one is unreadable. Default 1 MiB.
	MaxRecordBytes int
	// MaxWindow bounds the memory of zstd's window in bytes; a file that needs more is unreadable. Default 128 MiB, the
	// window of zstd --long.
	MaxWindow int
	// MaxExpansion bounds how many times its size a compressed file may decompress to, beyond the first 16 MiB; past
	// the bound the file counts as damaged. Default DefaultMaxExpansion.
	MaxExpansion int
	// OnDamage says what Read does at the place from which a file cannot be read on. Default DamageStop.
	OnDamage OnDamage
	// ReadRecords is the most records that Read returns. Default 4,096.
	ReadRecords int
	// BlockBytes is the number of bytes that are read at once. Default 256 KiB.
	BlockBytes int
	// In is the reader behind the name Stdin. Default os.Stdin.
	In io.Reader
}

// EnsureDefaults replaces zero values by the defaults.
func (o *SourceOptions) EnsureDefaults() {
	if o.Framing == "" {
		o.Framing = FramingLines
	}
	if o.Comma == 0 {
		o.Comma = ','
	}
	if o.MaxRecordBytes == 0 {
		o.MaxRecordBytes = 1 << 20
	}
	if o.MaxWindow == 0 {
		o.MaxWindow = 128 << 20
	}
	if o.MaxExpansion == 0 {
		o.MaxExpansion = DefaultMaxExpansion
	}
	if o.OnDamage == "" {
		o.OnDamage = DamageStop
	}
	if o.ReadRecords == 0 {
		o.ReadRecords = 4096
	}
	if o.BlockBytes == 0 {
		o.BlockBytes = 256 << 10
	}
	if o.In == nil {
		o.In = os.Stdin
	}
}

// Validate checks the options after EnsureDefaults.
func (o *SourceOptions) Validate() error {
	switch {
	case o.Path == "":
		return errors.New("the input has no path")
	case o.Framing != FramingLines && o.Framing != FramingCSV:
		return fmt.Errorf("framing %q is not known; it is %q or %q", o.Framing, FramingLines, FramingCSV)
	case o.Comma == '"' || o.Comma == '\n' || o.Comma == '\r' || o.Comma >= 0x80:
		return fmt.Errorf("%q cannot separate CSV fields", o.Comma)
	case o.OnDamage != DamageStop && o.OnDamage != DamageSkip:
		return fmt.Errorf("on damage %q is not known; it is %q or %q", o.OnDamage, DamageStop, DamageSkip)
	case o.MaxWindow < 1024:
		return fmt.Errorf("the window of %d bytes is too small; it must be at least 1024", o.MaxWindow)
	}
	switch o.Compression {
	case CompressionAuto, CompressionNone, CompressionGzip, CompressionZstd:
	default:
		return fmt.Errorf("compression %q is not known; it is %q, %q, %q or left out",
			o.Compression, CompressionNone, CompressionGzip, CompressionZstd)
	}
	for _, b := range []struct {
		name  string
		value int
	}{
		{"bytes of a record", o.MaxRecordBytes}, {"expansion", o.MaxExpansion},
		{"records of a read", o.ReadRecords}, {"bytes of a block", o.BlockBytes},
	} {
		if b.value < 1 {
			return fmt.Errorf("the limit on %s is %d; it must be at least 1", b.name, b.value)
		}
	}
	return nil
}

// SinkOptions configure a Sink.
type SinkOptions struct {
	// Output is the path of the main output, Stdout, or None to discard it.
	Output string
	// DeadLetters and Control are the paths of the dead letters and the batch records. Default None.
	DeadLetters string
	Control     string
	// Upsert writes each record as {"key":...,"value":...}, a tombstone with the value null; otherwise a line is the
	// record's value.
	Upsert bool
	// AllowExisting lets a fresh checkpoint begin behind what the output holds. It is to stay set until a batch was
	// committed: without a commit, the lengths to go back to are not known.
	AllowExisting bool
	// NoSync leaves it to the operating system when records reach the disk: for replays.
	NoSync bool
	// NoProgress does without the progress file beside the output: for replays, which begin anew each time.
	NoProgress bool
	// ResetProgress cuts the output back to an old copy of the checkpoint, which is refused otherwise.
	ResetProgress bool
	// BufferBytes is the write buffer of each output. Default 256 KiB.
	BufferBytes int
	// Out is the writer behind the name Stdout. Default os.Stdout.
	Out io.Writer
}

// EnsureDefaults replaces zero values by the defaults.
func (o *SinkOptions) EnsureDefaults() {
	if o.DeadLetters == "" {
		o.DeadLetters = None
	}
	if o.Control == "" {
		o.Control = None
	}
	if o.BufferBytes == 0 {
		o.BufferBytes = 256 << 10
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
}

// Validate checks the options after EnsureDefaults.
func (o *SinkOptions) Validate() error {
	if o.Output == "" {
		return fmt.Errorf("the output has no path; %q discards it", None)
	}
	if o.BufferBytes < 1 {
		return fmt.Errorf("the buffer has %d bytes; it must have at least 1", o.BufferBytes)
	}
	names := map[string]string{}
	for _, p := range []struct{ name, path string }{
		{"output", o.Output}, {"dead letters", o.DeadLetters}, {"control output", o.Control},
	} {
		if p.path == None {
			continue
		}
		at := p.path
		if at != Stdout {
			abs, err := filepath.Abs(at)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			at = abs
		}
		if other, ok := names[at]; ok {
			return fmt.Errorf("%s and %s are both %q; each needs its own", other, p.name, p.path)
		}
		names[at] = p.name
	}
	return nil
}
