package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
)

// Settings are what the state in a checkpoint depends on. All but Shape are fixed with the first batch; a
// daemon that is configured otherwise is refused.
type Settings struct {
	// Directed tells whether the graph is.
	Directed bool `json:"directed"`
	// Decoding says how input records are read: the format, and what belongs to it (columns, say).
	Decoding string `json:"decoding"`
	// Input and Output name the topics or paths.
	Input  string `json:"input"`
	Output string `json:"output"`
	// Mode is output.mode.
	Mode string `json:"output_mode"`
	// Properties are the declared properties, nil for none: values are stored by their columns.
	Properties *property.Schema `json:"properties,omitempty"`
	// Shape holds the settings that shape records and may change between runs (whether properties are echoed, say),
	// in whatever form the caller likes. The log keeps it with every batch, so that a replay writes the same bytes.
	// It cannot change while a batch is in hand.
	Shape string `json:"shape"`
}

// ErrSettings is wrapped by the error of Open when the checkpoint was made under other settings.
var ErrSettings = errors.New("the checkpoint was made under other settings")

// SettingsError names the settings that differ.
type SettingsError struct {
	Dir   string
	Field []FieldDifference
	// InHand is the batch that a change of shape has to wait for, 0 when another field differs.
	InHand uint64
}

// FieldDifference is one setting that differs.
type FieldDifference struct{ Field, Stored, Configured string }

// Error names every field with both values, and says what to do.
func (e *SettingsError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "checkpoint %s: %v:", e.Dir, ErrSettings)
	for i, f := range e.Field {
		if i > 0 {
			b.WriteString(";")
		}
		fmt.Fprintf(&b, " %s is %s there and %s in the configuration", f.Field, f.Stored, f.Configured)
	}
	if e.InHand != 0 {
		fmt.Fprintf(&b, ". Batch %d is in progress and must be finished under the settings that it was begun with: "+
			"start once "+
			"with them, stop, then change the configuration", e.InHand)
	} else {
		b.WriteString(". Configure what is there, or set checkpoint.dir to a new directory, which starts with an " +
			"empty graph")
	}
	return b.String()
}

// Unwrap returns ErrSettings.
func (e *SettingsError) Unwrap() error { return ErrSettings }

// differ lists the fixed fields that differ.
func (s *Settings) differ(configured *Settings) []FieldDifference {
	var ds []FieldDifference
	add := func(field, stored, configured string) {
		if stored != configured {
			ds = append(ds, FieldDifference{field, fmt.Sprintf("%q", stored), fmt.Sprintf("%q", configured)})
		}
	}
	if s.Directed != configured.Directed {
		ds = append(ds, FieldDifference{"directed", fmt.Sprint(s.Directed), fmt.Sprint(configured.Directed)})
	}
	add("decoding", s.Decoding, configured.Decoding)
	add("input", s.Input, configured.Input)
	add("output", s.Output, configured.Output)
	add("output_mode", s.Mode, configured.Mode)
	for _, d := range s.Properties.Differences(configured.Properties) {
		ds = append(ds, FieldDifference{"graph.properties." + d.Path, d.A, d.B})
	}
	return ds
}

// graph returns what the settings say about the graph.
func (s *Settings) graph() dyngraph.Options {
	return dyngraph.Options{Directed: s.Directed, Schema: s.Properties}
}

// columns returns those in which the values of edges are.
func (s *Settings) columns() *property.Columns {
	if s.Properties == nil {
		return property.Declarations(nil).Columns()
	}
	return s.Properties.Edges.Columns()
}

func appendSettings(b []byte, s *Settings) ([]byte, error) {
	js, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return append(b, js...), nil
}

func (d *decoder) settings() (*Settings, error) {
	s := new(Settings)
	if err := json.Unmarshal(d.b, s); err != nil {
		return nil, damaged("the settings: %v", err)
	}
	return s, nil
}
