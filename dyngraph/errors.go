package dyngraph

import (
	"errors"
	"fmt"
)

// Reason is the kind of an UpdateError: a short stable code, fit for a metric's label.
type Reason string

// The reasons for which an update is refused.
const (
	ReasonBadOp         Reason = "bad_op"         // the operation is none of Op's
	ReasonBadKey        Reason = "bad_key"        // a vertex key is empty, too long or not valid UTF-8
	ReasonBadLabel      Reason = "bad_label"      // a label is too long or not valid UTF-8
	ReasonBadID         Reason = "bad_id"         // an edge's id is too long or not valid UTF-8
	ReasonProperty      Reason = "property"       // a declared property's value is not of its type
	ReasonSelfLoop      Reason = "self_loop"      // both ends of the edge are the same vertex
	ReasonLabelConflict Reason = "label_conflict" // the vertex has another label
	ReasonVertexLimit   Reason = "vertex_limit"   // Options.MaxVertices would be exceeded
	ReasonLabelLimit    Reason = "label_limit"    // Options.MaxLabels would be exceeded
	ReasonEdgeLimit     Reason = "edge_limit"     // the graph would have more edges than EdgeIndex can number
	ReasonGraphFull     Reason = "graph_full"     // the graph would have more edges than LimitEdges allows
)

// UpdateError says why an update was refused.
type UpdateError struct {
	Reason Reason
	Msg    string // what is wrong and what would be right
}

// Error returns the message, with the reason's code in front.
func (e *UpdateError) Error() string { return string(e.Reason) + ": " + e.Msg }

// ErrStaged is returned by Stage while another batch is staged.
var ErrStaged = errors.New("dyngraph: a batch is already staged")

func refuse(r Reason, format string, args ...any) *UpdateError {
	return &UpdateError{Reason: r, Msg: fmt.Sprintf(format, args...)}
}

// quote shows a key or label in a message; keys are hostile and may be long.
func quote(s string) string {
	const most = 64
	if len(s) > most {
		return fmt.Sprintf("%q... (%d bytes)", s[:most], len(s))
	}
	return fmt.Sprintf("%q", s)
}
