package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
)

// Settings are those of the configuration on which the state in a checkpoint depends. All but Properties and Shape are
// fixed with the first batch: a daemon that is configured otherwise is refused.
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
	// EdgeIDs tells that ids identify edges, beside their ends and label: the keys of edges have them.
	EdgeIDs bool `json:"edge_ids,omitempty"`
	// Properties are the declared properties, and whether a vertex may have several labels; nil for neither. Values are
	// stored by their columns. Batches change the declarations, and Declaration is the last step of a change that is
	// not done, nil for none.
	Properties  *property.Schema      `json:"properties,omitempty"`
	Declaration *dyngraph.Declaration `json:"declaration,omitempty"`
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
	for _, f := range e.Field {
		if f.Field == edgeIdentity && f.Stored == identity(false) {
			b.WriteString(". The default is id with graph.properties or graph.retention: write graph.edge_identity: " +
				"ends")
		}
	}
	if e.InHand != 0 {
		fmt.Fprintf(&b, ". Batch %d is in progress and must be finished under the settings that it was begun with: "+
			"start once "+
			"with them, stop, then change the configuration", e.InHand)
	} else {
		b.WriteString(". Configure what is there, or set checkpoint.dir to a new directory: it starts with an " +
			"empty graph")
		if e.migratable() {
			b.WriteString(", or with this one (motifd checkpoint migrate)")
		}
	}
	return b.String()
}

// migratable reports whether Migrate can bring the checkpoint to the configured settings, as far as the fields tell.
func (e *SettingsError) migratable() bool {
	for _, f := range e.Field {
		switch {
		case f.Field == "directed", f.Field == "input", f.Field == edgeIdentity && f.Stored == identity(true),
			f.Field == vertexLabelsField && f.Stored == vertexLabels(true):
			return false
		}
	}
	return true
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
	if s.EdgeIDs != configured.EdgeIDs {
		ds = append(ds, FieldDifference{edgeIdentity, identity(s.EdgeIDs), identity(configured.EdgeIDs)})
	}
	if a, b := s.Properties.Several(), configured.Properties.Several(); a != b {
		ds = append(ds, FieldDifference{vertexLabelsField, vertexLabels(a), vertexLabels(b)})
	}
	return ds
}

// format is the format that a checkpoint of these settings has at least.
func (s *Settings) format() uint64 {
	if s.EdgeIDs || s.Properties.Several() {
		return timeFormat
	}
	return plainFormat
}

// The paths of the settings that say what an edge is, and how many labels a vertex may have.
const edgeIdentity, vertexLabelsField = "graph.edge_identity", "graph.vertex_labels"

// identity names what an edge is as the configuration does.
func identity(edgeIDs bool) string {
	if edgeIDs {
		return "id"
	}
	return "ends"
}

// vertexLabels names how many labels a vertex may have as the configuration does.
func vertexLabels(several bool) string {
	if several {
		return "several"
	}
	return "one"
}

// graph returns what the settings say about the graph.
func (s *Settings) graph() dyngraph.Options {
	return dyngraph.Options{Directed: s.Directed, EdgeIDs: s.EdgeIDs, Schema: s.Properties}
}

// columns returns those in which the values of edges and of vertices are.
func (s *Settings) columns() (edges, vertices *property.Columns) {
	return s.Properties.EdgeColumns(), s.Properties.VertexColumns()
}

// declare returns the settings after a batch that is a step of a change of the declared properties.
func (s Settings) declare(d *dyngraph.Declaration) Settings {
	s.Properties, s.Declaration = d.Schema, d
	if d.Last() {
		s.Declaration = nil
	}
	return s
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
