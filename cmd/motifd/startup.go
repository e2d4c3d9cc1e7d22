package main

import (
	"motifd/cmd/motifd/internal/command"
	"motifd/matcher"
)

// startup compares the queries of the configuration with the stored ones. Those of the API stay, unless the
// configuration has one of the same name; a suspended query stays suspended until it is resumed or changed.
func startup(stored []matcher.QueryState, configured []*matcher.Query) []*matcher.QueryChange {
	byName := make(map[string]*matcher.Query)
	for _, q := range configured {
		byName[q.Name] = q
	}
	old := make(map[string]matcher.QueryState)
	var out []*matcher.QueryChange
	for _, s := range stored {
		if s.Removed {
			continue
		}
		old[s.Query.Name] = s
		if byName[s.Query.Name] == nil && s.Query.Origin == "config" {
			out = append(out, &matcher.QueryChange{Remove: s.Query.Name})
		}
	}
	for _, q := range configured {
		s, ok := old[q.Name]
		if ok && s.Suspended && matcher.SameDefinition(s.Query, q) {
			continue
		}
		ch := &matcher.QueryChange{Add: q}
		if ok {
			ch.Remove = q.Name
		}
		out = append(out, ch) // the pipeline passes over what is the same
	}
	return out
}

// newNames checks the names of queries that are registered for the first time; a stored one keeps its name.
func newNames(changes []*matcher.QueryChange) error {
	for _, ch := range changes {
		if ch.Add == nil || ch.Remove != "" {
			continue
		}
		if err := matcher.CheckNewName(ch.Add.Name); err != nil {
			return command.Refuse(err)
		}
	}
	return nil
}
