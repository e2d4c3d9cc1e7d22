package codec

import (
	"strings"

	"motifd/dyngraph"
	"motifd/stream"
)

// The fields of an update object.
const (
	fieldOp = iota
	fieldKey
	fieldFrom
	fieldTo
	fieldLabel
	fieldFromLabel
	fieldToLabel
	fieldID
	fieldTS
	fieldProps
	// where a vertex may have several labels
	fieldLabels
	fieldFromLabels
	fieldToLabels
	fieldCount
	fieldUnknown = fieldCount
)

var fieldNames = []string{"op", "key", "from", "to", "label", "from_label", "to_label", "id", "ts", "props", "labels",
	"from_labels", "to_labels"}

type fieldSet uint16

func fields(list ...int) (s fieldSet) {
	for _, f := range list {
		s |= 1 << f
	}
	return s
}

// Fields that an operation may and must have. A deletion takes all that the insertion has, so that an edge can be
// deleted by the record that inserted it.
var (
	edgeFields = fields(
		fieldOp,
		fieldFrom,
		fieldTo,
		fieldLabel,
		fieldFromLabel,
		fieldToLabel,
		fieldID,
		fieldTS,
		fieldProps,
	)
	edgeRequired   = fields(fieldFrom, fieldTo)
	vertexFields   = fields(fieldOp, fieldKey, fieldLabel, fieldTS)
	vertexRequired = fields(fieldKey)
	// where a property of vertices is declared
	declaredFields  = vertexFields | fields(fieldProps)
	revisedRequired = fields(fieldKey, fieldProps)
	// where a vertex may have several labels
	labelsOfEnds = fields(fieldFromLabels, fieldToLabels)
	labelsOfOne  = fields(fieldLabels)
)

func fieldOf(name []byte) int {
	switch string(name) {
	case "op":
		return fieldOp
	case "from":
		return fieldFrom
	case "to":
		return fieldTo
	case "label":
		return fieldLabel
	case "from_label":
		return fieldFromLabel
	case "to_label":
		return fieldToLabel
	case "id":
		return fieldID
	case "ts":
		return fieldTS
	case "props":
		return fieldProps
	case "key":
		return fieldKey
	}
	return fieldUnknown
}

// fieldOf is the function where a vertex has one label.
func (d *jsonDecoder) fieldOf(name []byte) int {
	if d.several {
		switch string(name) {
		case "labels":
			return fieldLabels
		case "from_labels":
			return fieldFromLabels
		case "to_labels":
			return fieldToLabels
		}
	}
	return fieldOf(name)
}

// synonyms are the names of the fields in other systems.
var synonyms = map[string]string{
	"source": "from", "src": "from", "sender": "from", "target": "to", "dst": "to", "dest": "to", "destination": "to",
	"receiver": "to", "type": "label", "sourcelabel": "from_label", "targetlabel": "to_label",
	"time": "ts", "timestamp": "ts", "properties": "props", "attributes": "props", "operation": "op", "action": "op",
	"vertex": "key", "node": "key",
}

func (d *jsonDecoder) unknownField(name []byte, at int) *stream.DecodeError {
	fieldNames := fieldNames
	if !d.several {
		if string(name) == "labels" || string(name) == "from_labels" || string(name) == "to_labels" {
			return refuse(ReasonField, "byte %d: the field %s is for vertices that may have several labels "+
				"(graph.vertex_labels: several); write %q", at, show(name), strings.TrimSuffix(string(name), "s"))
		}
		fieldNames = fieldNames[:fieldLabels]
	}
	n := synonyms[fold(string(name[:min(len(name), 32)]))]
	if n == "" {
		n = nearest(string(name), fieldNames)
	}
	if n != "" {
		return refuse(ReasonField, "byte %d: the field %s is unknown; did you mean %q?", at, show(name), n)
	}
	return refuse(ReasonField, "byte %d: the field %s is unknown; an update has %s (other data goes into props)",
		at, show(name), strings.Join(fieldNames, ", "))
}

// belongs checks that the object has the fields that its operation needs, and no others.
func (d *jsonDecoder) belongs(u *dyngraph.Update, seen fieldSet, at *[fieldCount]int, start int) *stream.DecodeError {
	if u.Op == 0 {
		return refuse(ReasonField, `byte %d: the update has no "op"; it is "+", "-", "+v", "-v" or "=v"`, start)
	}
	may, must := edgeFields, edgeRequired
	if u.Op.OfVertex() {
		may, must = vertexFields, vertexRequired
		if d.opt.KeepProps || d.values.ofVertices() {
			may = declaredFields
		} else if u.Op == dyngraph.ReviseVertex && !d.several {
			return undeclared(start)
		}
		if u.Op == dyngraph.ReviseVertex {
			must = revisedRequired
		}
	}
	if d.several {
		if err := d.severalBelong(u, seen, at, &may, &must); err != nil {
			return err
		}
	}
	if seen&^may == 0 && seen&must == must {
		if err := d.values.fromJSON(u); err != nil {
			return atByte(at[fieldProps], err)
		}
		if u.Op == dyngraph.DeleteEdge && !d.opt.KeepProps {
			u.Attr.Props, u.Attr.Values = nil, nil // checked, and of no use
		}
		return nil
	}
	for f, name := range fieldNames {
		if seen&^may&(1<<f) != 0 {
			return refuse(
				ReasonField,
				"byte %d: the field %q does not belong to op %q, which has %s",
				at[f],
				name,
				u.Op.String(),
				may,
			)
		}
		if must&^seen&(1<<f) != 0 {
			return refuse(ReasonField, "byte %d: the field %q is missing; op %q needs %s", start, name, u.Op.String(),
				must)
		}
	}
	return nil
}

// severalBelong is the part of belongs that is about several labels of a vertex: which fields there may and must be.
func (d *jsonDecoder) severalBelong(u *dyngraph.Update, seen fieldSet, at *[fieldCount]int, may, must *fieldSet,
) *stream.DecodeError {
	if !u.Op.OfVertex() {
		*may |= labelsOfEnds
		return labelsOnce(u, seen, at)
	}
	*may |= labelsOfOne
	if u.Op != dyngraph.ReviseVertex {
		if err := labelsOnce(u, seen, at); err != nil || seen&fields(fieldLabel) == 0 {
			return err
		}
		if err := wholeLabel(u); err != nil {
			return atByte(at[fieldLabel], err)
		}
		return nil
	}
	*may &^= fields(fieldLabel)
	if *must = fields(fieldKey, fieldProps); seen&labelsOfOne != 0 || *may&fields(fieldProps) == 0 {
		*must = fields(fieldKey, fieldLabels)
	}
	if seen&fields(fieldLabel) != 0 {
		return nil // it does not belong to the operation
	}
	if err := checkChange(u.Label); err != nil {
		return atByte(at[fieldLabels], err)
	}
	return nil
}

// undeclared refuses an operation =v where there is nothing that it could set.
func undeclared(at int) *stream.DecodeError {
	return refuse(ReasonField, `byte %d: op "=v" sets declared properties of a vertex, and graph.properties.vertices `+
		`declares none`, at)
}

// String lists the names.
func (s fieldSet) String() string {
	var names []string
	for f, name := range fieldNames {
		if s&(1<<f) != 0 && f != fieldOp {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
