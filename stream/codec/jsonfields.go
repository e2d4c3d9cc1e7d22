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
	fieldCount
	fieldUnknown = fieldCount
)

var fieldNames = []string{"op", "key", "from", "to", "label", "from_label", "to_label", "id", "ts", "props"}

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

// synonyms are what other systems call the fields.
var synonyms = map[string]string{
	"source": "from", "src": "from", "sender": "from", "target": "to", "dst": "to", "dest": "to", "destination": "to",
	"receiver": "to", "type": "label", "sourcelabel": "from_label", "targetlabel": "to_label",
	"time": "ts", "timestamp": "ts", "properties": "props", "attributes": "props", "operation": "op", "action": "op",
	"vertex": "key", "node": "key",
}

func unknownField(name []byte, at int) *stream.DecodeError {
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
		return refuse(ReasonField, `byte %d: the update has no "op"; it is "+", "-", "+v" or "-v"`, start)
	}
	may, must := edgeFields, edgeRequired
	if u.Op == dyngraph.InsertVertex || u.Op == dyngraph.DeleteVertex {
		may, must = vertexFields, vertexRequired
	}
	if seen&^may == 0 && seen&must == must {
		if err := d.values.fromJSON(u); err != nil {
			return atByte(at[fieldProps], err)
		}
		if u.Op == dyngraph.DeleteEdge {
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
