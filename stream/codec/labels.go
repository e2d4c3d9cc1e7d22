package codec

import (
	"bytes"
	"slices"
	"strings"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/stream"
)

// Where a vertex may have several labels (DecoderOptions.Schema), an update has them in one text (property.JoinLabels).
// In JSON they are an array, in a row or a line they stand with ; between them; those of =v have a sign each.

// maxLabels bounds the labels that one field of an update names.
const maxLabels = 100

// severalFields have several labels in JSON, in place of the field that has one.
var severalFields = map[int]int{fieldLabels: fieldLabel, fieldFromLabels: fieldFromLabel, fieldToLabels: fieldToLabel}

// labelReader collects the labels of one field.
type labelReader struct {
	opt  *DecoderOptions
	text []byte // joined
	n    int
	err  *stream.DecodeError
}

// add takes a label; what names its field in errors.
func (r *labelReader) add(what string, label []byte) {
	switch {
	case r.err != nil:
	case len(label) == 0:
		r.err = refuse(ReasonValue, "%s has an empty label; leave it out", what)
	case len(label) > r.opt.MaxLabelLen:
		r.err = tooLong("a label of "+what, label, r.opt.MaxLabelLen)
	case bytes.Contains(label, []byte(property.LabelSeparator)):
		r.err = refuse(ReasonValue, "the label %s of %s has the character U+0000; a label has it nowhere", show(label),
			what)
	case r.n == maxLabels:
		r.err = refuse(ReasonSize, "%s has more than %d labels; send several updates", what, maxLabels)
	default:
		if r.n++; r.n > 1 {
			r.text = append(r.text, property.LabelSeparator...)
		}
		r.text = append(r.text, label...)
	}
}

// labelList reads several labels of a field as a JSON array.
func (d *jsonDecoder) labelList(f int) (string, *stream.DecodeError) {
	s := &d.s
	if s.peek() != '[' {
		return "", s.wrongType(f, "an array of strings")
	}
	s.i++
	r := labelReader{opt: &d.opt, text: d.labelText[:0]}
	for first := true; ; first = false {
		more, err := s.next(first)
		if err != nil {
			return "", err
		}
		if !more {
			break
		}
		c := s.peek()
		at := s.i
		if c != '"' {
			return "", s.wrongType(f, "an array of strings")
		}
		text, err := s.string()
		if err != nil {
			return "", err
		}
		if r.add(fieldNames[f], text); r.err != nil {
			return "", atByte(at, r.err)
		}
	}
	d.labelText = r.text
	return d.strings.get(r.text), nil
}

// oneOfSeveral reads a field with one label where a vertex may have several.
func (d *jsonDecoder) oneOfSeveral(f int, text []byte, at int) (string, *stream.DecodeError) {
	if len(text) == 0 {
		return "", nil
	}
	r := labelReader{opt: &d.opt, text: d.labelText[:0]}
	if r.add(fieldNames[f], text); r.err != nil {
		return "", atByte(at, r.err)
	}
	return d.strings.get(text), nil
}

// wholeLabel refuses the label of a vertex that would be several.
func wholeLabel(u *dyngraph.Update) *stream.DecodeError {
	if strings.Contains(u.Label, property.LabelSeparator) {
		return refuse(ReasonValue, "the label %s has the character U+0000; a label of a vertex has it nowhere",
			show(u.Label))
	}
	return nil
}

// labelsOnce refuses an update that is not =v and names the labels of a vertex in two fields, or with signs.
func labelsOnce(u *dyngraph.Update, seen fieldSet, at *[fieldCount]int) *stream.DecodeError {
	for _, f := range [3]int{fieldLabels, fieldFromLabels, fieldToLabels} {
		if one := severalFields[f]; seen&(1<<f) != 0 && seen&(1<<one) != 0 {
			return refuse(ReasonField, "byte %d: the update has %q and %q; all labels stand in one", at[one],
				fieldNames[one], fieldNames[f])
		}
	}
	if u.Op.OfVertex() {
		return namesAt(u.Label, fieldLabels, seen, at)
	}
	if err := namesAt(u.FromLabel, fieldFromLabels, seen, at); err != nil {
		return err
	}
	return namesAt(u.ToLabel, fieldToLabels, seen, at)
}

// namesAt is checkNames for the labels that a field has, or the field with one label in its place.
func namesAt(labels string, f int, seen fieldSet, at *[fieldCount]int) *stream.DecodeError {
	err := checkNames(labels)
	if err == nil {
		return nil
	}
	if seen&(1<<f) == 0 {
		f = severalFields[f]
	}
	return atByte(at[f], err)
}

// splitLabels reads several labels with ; between them.
func splitLabels(opt *DecoderOptions, what, text string) (string, *stream.DecodeError) {
	if text == "" {
		return "", nil
	}
	r := labelReader{opt: opt}
	for label := range strings.SplitSeq(text, ";") {
		r.add(what, []byte(label))
	}
	return string(r.text), r.err
}

// checkNames refuses labels that begin like those of =v, which adds and removes: elsewhere the sign would be a part of
// the name.
func checkNames(labels string) *stream.DecodeError {
	for l := range property.EachLabel(labels) {
		if l[0] == property.AddLabel || l[0] == property.RemoveLabel {
			return refuse(ReasonValue, "the label %s begins with %c; only =v adds and removes labels, all other "+
				"operations name them without a sign", show(l), l[0])
		}
	}
	return nil
}

// checkChange refuses labels of =v without a sign, and one that is both added and removed.
func checkChange(labels string) *stream.DecodeError {
	var names []string
	for l := range property.EachLabel(labels) {
		if l[0] != property.AddLabel && l[0] != property.RemoveLabel || len(l) == 1 {
			return refuse(ReasonValue, "the label %s of =v is no change; write + before a label to add it, - to "+
				"remove it", show(l))
		}
		if slices.Contains(names, l[1:]) {
			return refuse(ReasonDuplicate, "the label %s is named twice by =v; add it or remove it", show(l[1:]))
		}
		names = append(names, l[1:])
	}
	return nil
}
