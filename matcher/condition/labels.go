package condition

import (
	"slices"
	"strconv"
	"strings"
)

// Labels is a pattern's demand on the labels of an element: alternatives, each of which lists labels that must be there
// and labels that must be absent. Without alternatives there is no demand. Labels are kept in normal form, so that
// equal ones have equal text.
type Labels []Alternative

// Alternative holds where the element has every label of All and none of None. Both are sorted.
type Alternative struct {
	All  []string `json:"all,omitempty"`
	None []string `json:"none,omitempty"`
}

// NewLabels returns the normal form of alternatives: sorted, without repetition and without what another alternative
// covers word for word.
func NewLabels(alternatives ...Alternative) Labels {
	var l Labels
	for _, a := range alternatives {
		l = append(l, Alternative{sorted(a.All), sorted(a.None)})
	}
	slices.SortFunc(l, func(a, b Alternative) int { return slices.Compare(a.key(), b.key()) })
	return slices.CompactFunc(l, func(a, b Alternative) bool { return slices.Equal(a.key(), b.key()) })
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return slices.Compact(s)
}

// key orders alternatives: labels that are there, then those that are absent.
func (a Alternative) key() []string {
	key := make([]string, 0, len(a.All)+len(a.None))
	for _, s := range a.All {
		key = append(key, "+"+s)
	}
	for _, s := range a.None {
		key = append(key, "-"+s)
	}
	return key
}

// Single returns the label of a demand for one label and nothing else, "" for no demand.
func (l Labels) Single() (string, bool) {
	switch {
	case len(l) == 0:
		return "", true
	case len(l) == 1 && len(l[0].All) == 1 && len(l[0].None) == 0:
		return l[0].All[0], true
	}
	return "", false
}

// Impossible returns an alternative that can never hold, and whether there is one: a label both there and absent, or
// two labels of an element that has at most one.
func (l Labels) Impossible(several bool) (Alternative, bool) {
	for _, a := range l {
		if !several && len(a.All) > 1 {
			return a, true
		}
		for _, s := range a.All {
			if slices.Contains(a.None, s) {
				return a, true
			}
		}
	}
	return Alternative{}, false
}

// Key is a text that demands have in common if they are equal, and only then.
func (l Labels) Key() string {
	switch label, one := l.Single(); {
	case label != "":
		return strconv.Quote(label)
	case one: // no demand
		return ""
	}
	return l.Format(strconv.Quote)
}

// Format prints the demand as Cypher, without the colon; quote quotes a label.
func (l Labels) Format(quote func(string) string) string {
	var or []string
	for _, a := range l {
		var and []string
		for _, s := range a.All {
			and = append(and, quote(s))
		}
		for _, s := range a.None {
			and = append(and, "!"+quote(s))
		}
		or = append(or, strings.Join(and, "&"))
	}
	return strings.Join(or, "|")
}
