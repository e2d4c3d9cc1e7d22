package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/command"
	"motifd/matcher"
)

// TestAStoredNameStays: names that are not allowed any more are refused for new queries of the configuration, not for
// stored ones.
func TestAStoredNameStays(t *testing.T) {
	q := &matcher.Query{Name: "x/y", Version: 3, Origin: "config"}
	again := &matcher.Query{Name: "x/y", Emit: matcher.EmitCounts}
	for _, stored := range [][]matcher.QueryState{{{Query: q}}, {{Query: q, Suspended: true}}} {
		require.NoError(t, newNames(startup(stored, []*matcher.Query{again})))
		require.NoError(t, newNames(startup(stored, nil)))
	}
	for _, stored := range [][]matcher.QueryState{nil, {{Query: q, Removed: true}}} {
		err := newNames(startup(stored, []*matcher.Query{again}))
		require.ErrorIs(t, err, matcher.ErrQuery)
		var bad command.Refused
		require.ErrorAs(t, err, &bad)
	}
}
