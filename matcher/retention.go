package matcher

import (
	"fmt"
	"slices"
	"time"

	"motifd/matcher/condition"
)

// RetentionWarnings warns of negations whose blocker can expire before the match that it blocks: some edge of the
// negation is kept for a shorter time than any edge of the core. The match then begins when that edge expires, which
// may not be intended. of returns how long edges of a label are kept, in milliseconds; ok is false if they do not
// expire. labels are those that it knows: an edge without a label may have any of them.
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

// keptOf returns the best (longest or shortest) time that edges with one of some labels are kept. ok is false if no
// such time exists: for the longest, if some of these edges do not expire; for the shortest, if none does.
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
