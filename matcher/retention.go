package matcher

import (
	"fmt"
	"slices"
	"time"

	"motifd/matcher/condition"
)

// RetentionWarnings says which negations can end by expiry while the match that they block goes on: some edge of theirs
// is kept for a shorter time than any of the core's. Such a match begins as the edge expires, which may not be what the
// query is about. of returns how long edges of a label are kept, in milliseconds; ok is false if they do not expire.
// labels are those that it knows: an edge without a label may have any of them.
func RetentionWarnings(q *Query, labels []string, of func(label string) (ms int64, ok bool)) (warnings []string) {
	kept := func(edges []QueryEdge, better func(a, b int64) bool) (least int64, name string, ok bool) {
		for _, e := range edges {
			of, known := keptOf(e.Labels(), labels, of, better)
			if known && (!ok || of < least) {
				least, name, ok = of, e.Name, true
			}
		}
		return least, name, ok
	}
	for s, deny := range q.denying() {
		core, _, bounded := kept(q.coreEdges(s), func(a, b int64) bool { return a > b })
		for i := range deny.Negations {
			n := &deny.Negations[i]
			blocker, name, ok := kept(n.Edges, func(a, b int64) bool { return a < b })
			if !ok || bounded && blocker >= core {
				continue
			}
			match := "edges of the match do not expire"
			if bounded {
				match = fmt.Sprintf("those of the match for %v", time.Duration(core)*time.Millisecond)
			}
			warnings = append(warnings, fmt.Sprintf("%s: edges %s are kept for %v, and %s (graph.retention); a match "+
				"begins when they expire", deny.FormatNegation(n), name, time.Duration(blocker)*time.Millisecond,
				match))
		}
	}
	return warnings
}

// keptOf returns the best of how long edges with one of some labels are kept; ok is false if some do not expire, where
// more is better, or all, where less is.
func keptOf(demand condition.Labels, all []string, of func(string) (int64, bool),
	better func(a, b int64) bool) (best int64, ok bool) {
	labels := all
	if demand != nil {
		labels = nil
		for _, a := range demand {
			labels = append(labels, a.All...)
		}
	} else if !slices.Contains(labels, "") {
		labels = append(slices.Clone(labels), "")
	}
	longest := better(2, 1)
	for _, l := range labels {
		ms, expires := of(l)
		switch {
		case !expires && longest:
			return 0, false
		case expires && (!ok || better(ms, best)):
			best, ok = ms, true
		}
	}
	return best, ok
}
