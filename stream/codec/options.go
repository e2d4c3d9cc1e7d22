package codec

import (
	"fmt"

	"motifd/dyngraph/property"
	"motifd/stream"
)

// DecoderOptions bound and configure the decoders. Zero values stand for the defaults named beside them.
type DecoderOptions struct {
	// MaxBytes bounds one record. Default 4 MiB.
	MaxBytes int
	// MaxElements bounds the updates of one record: the elements of a JSON array, or the lines. Default 100,000.
	MaxElements int
	// MaxDepth bounds the nesting of JSON values inside an update: props itself is depth 1. Default 32, at most 1,000.
	MaxDepth int
	// MaxKeyLen bounds vertex keys, in bytes. Default 1,024, which is also the most (DESIGN S1).
	MaxKeyLen int
	// MaxLabelLen bounds labels, in bytes. Default 1,024, which is also the most.
	MaxLabelLen int
	// MaxIDLen bounds edge ids, in bytes. Default 1,024.
	MaxIDLen int
	// MaxPropsBytes bounds props, in bytes after white space is removed. Default 64 KiB.
	MaxPropsBytes int
	// AllowUnknownFields makes the JSON decoder check and ignore fields that no update has, instead of refusing them.
	AllowUnknownFields bool

	// EdgeIDs tells that ids identify edges: the edge without id has no field for it, and an empty id is refused. In
	// CSV an empty cell is no id.
	EdgeIDs bool

	// KeepProps keeps the properties of every operation in Attr.Props as they came: for an Inference. It goes with no
	// Schema.
	KeepProps bool

	// Schema declares the properties that updates bring as values of their types, and whether vertices may have several
	// labels; nil declares none, and one label.
	Schema *property.Schema

	// Mapping says where a CSV record's fields are (see ParseMapping). CSV needs it, the other formats ignore it.
	Mapping *Mapping
	// CSVHeader is the header row of CSV records that come without one (from Kafka, say), as it would stand in a file.
	// When it is empty, names are looked up in Record.Header.
	CSVHeader string
	// CSVComma separates the fields of a CSV record. Default ','.
	CSVComma rune
}

// EnsureDefaults sets the options that are zero to their defaults.
func (o *DecoderOptions) EnsureDefaults() {
	set := func(p *int, v int) {
		if *p == 0 {
			*p = v
		}
	}
	set(&o.MaxBytes, 4<<20)
	set(&o.MaxElements, 100_000)
	set(&o.MaxDepth, 32)
	set(&o.MaxKeyLen, maxKeyLen)
	set(&o.MaxLabelLen, maxLabelLen)
	set(&o.MaxIDLen, 1024)
	set(&o.MaxPropsBytes, 64<<10)
	if o.CSVComma == 0 {
		o.CSVComma = ','
	}
}

const (
	maxKeyLen   = 1024 // DESIGN S1
	maxLabelLen = 1024 // what the graph takes at most
	maxDepth    = 1000 // values are read recursively
	maxBytes    = 1 << 30
)

// Validate checks the options after EnsureDefaults.
func (o *DecoderOptions) Validate() error {
	for _, b := range []struct {
		name       string
		value, max int
	}{
		{"MaxBytes", o.MaxBytes, maxBytes},
		{"MaxElements", o.MaxElements, maxBytes},
		{"MaxDepth", o.MaxDepth, maxDepth},
		{"MaxKeyLen", o.MaxKeyLen, maxKeyLen},
		{"MaxLabelLen", o.MaxLabelLen, maxLabelLen},
		{"MaxIDLen", o.MaxIDLen, maxBytes},
		{"MaxPropsBytes", o.MaxPropsBytes, maxBytes},
	} {
		if b.value < 1 || b.value > b.max {
			return fmt.Errorf("decoder option %s is %d; it is a number from 1 to %d", b.name, b.value, b.max)
		}
	}
	switch c := o.CSVComma; {
	case c == '"', c == '\r', c == '\n', c == 0xFFFD, c < ' ' && c != '\t', c > 0x10FFFF:
		return fmt.Errorf("decoder option CSVComma is %q; it must be one character, but not a quote or a line break", c)
	}
	return nil
}

// NewDecoder returns the decoder of a format: FormatJSON, FormatCSV or FormatText.
func NewDecoder(format string, opt DecoderOptions) (stream.Decoder, error) {
	opt.EnsureDefaults()
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	switch format {
	case FormatJSON:
		return newJSONDecoder(opt), nil
	case FormatCSV:
		return newCSVDecoder(opt)
	case FormatText:
		return newTextDecoder(opt), nil
	}
	return nil, fmt.Errorf("update format %q is unknown; use %s, %s or %s", format, FormatJSON, FormatCSV, FormatText)
}
