package property

import (
	"iter"
	"slices"
	"strings"
)

// LabelSeparator stands between the labels of one text, as in Update.Label where a vertex may have several labels. No
// label has it then.
const LabelSeparator = "\x00"

// LabelSet returns a set of labels, given in any order, as the value of a vertex; null for none. The empty label does
// not count.
func LabelSet(labels ...string) Value {
	labels = slices.Clone(labels)
	slices.Sort(labels)
	labels = slices.Compact(labels)
	if len(labels) > 0 && labels[0] == "" {
		labels = labels[1:]
	}
	if len(labels) == 0 {
		return Value{}
	}
	return Value{text: strings.Join(labels, LabelSeparator), kind: Labels}
}

// LabelsOf returns the set of the labels in a text.
func LabelsOf(text string) Value { return LabelSet(strings.Split(text, LabelSeparator)...) }

// JoinLabels returns the text of labels, as updates have it.
func JoinLabels(labels ...string) string { return strings.Join(labels, LabelSeparator) }

// EachLabel goes through the labels of a text, in their order; the empty label is none.
func EachLabel(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			label, rest, _ := strings.Cut(text, LabelSeparator)
			if text = rest; label != "" && !yield(label) {
				return
			}
		}
	}
}

// EachLabel goes through a set of labels, ascending.
func (v Value) EachLabel() iter.Seq[string] {
	if v.kind != Labels {
		return EachLabel("")
	}
	return EachLabel(v.text)
}

// HasLabel reports whether a set has a label.
func (v Value) HasLabel(label string) bool {
	for l := range v.EachLabel() {
		if l == label {
			return true
		}
	}
	return false
}

// HasLabels reports whether a set has all labels of a text.
func (v Value) HasLabels(text string) bool {
	if v.kind == Labels && v.text == text {
		return true
	}
	for l := range EachLabel(text) {
		if !v.HasLabel(l) {
			return false
		}
	}
	return true
}

// canonical reports whether a text is that of a set: at least one label, ascending, each once.
func canonical(text string) bool { return LabelsOf(text).text == text && text != "" }

// Signs before the labels of a change: JoinLabels("+A", "-B") adds A and removes B.
const (
	AddLabel    = '+'
	RemoveLabel = '-'
)

// Relabelled returns the set after a change of labels: a text in which each label has a sign. Later ones win.
func (v Value) Relabelled(change string) Value {
	labels := slices.Collect(v.EachLabel())
	for l := range EachLabel(change) {
		name := l[1:]
		labels = slices.DeleteFunc(labels, func(s string) bool { return s == name })
		if l[0] != RemoveLabel {
			labels = append(labels, name)
		}
	}
	return LabelSet(labels...)
}

// WithLabels returns the set with the labels of a text added.
func (v Value) WithLabels(text string) Value {
	if v.HasLabels(text) {
		return v
	}
	return LabelSet(slices.AppendSeq(slices.Collect(v.EachLabel()), EachLabel(text))...)
}
