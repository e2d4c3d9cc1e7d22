package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/payments"
	"motifd/matcher/matchertest"
)

// edgeSets returns the matches that a file's records with op announce, each as its query and the sorted ids of its
// payments.
func edgeSets(t *testing.T, path, op string) (all []string) {
	t.Helper()
	for line := range strings.Lines(readFile(t, path)) {
		var r struct {
			Op, Query, Reason string
			Edges             map[string]struct{ ID string }
		}
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		if r.Op == "-" {
			require.Equal(t, "expired", r.Reason)
		}
		if r.Op != op {
			continue
		}
		var ids []string
		for _, e := range r.Edges {
			ids = append(ids, e.ID)
		}
		slices.Sort(ids)
		all = append(all, r.Query+" "+strings.Join(ids, " "))
	}
	slices.Sort(all)
	return all
}

// TestSynthCasesAreFound: of generated payments with planted cases of the eight typologies, the patterns find each case
// that fits its pattern, none that does not, and no match but the oracle's. With a retention as long as the patterns'
// window they find the same, and all matches end.
func TestSynthCasesAreFound(t *testing.T) {
	t.Parallel()
	matchertest.NotUnderRace(t, "the oracle searches on one goroutine, and for long")
	fits, unfit := map[payments.Typology]int{}, map[payments.Typology]int{}
	enough := func() bool { return len(fits) == 8 && len(unfit) == 8 }
	matchertest.ForSeedsUntil(t, 2, enough, func(t *testing.T, rng *rand.Rand) {
		dir := t.TempDir()
		succeed(t, dir, "synth", "aml", "--payments=300", "--accounts=500", "--cases=80",
			fmt.Sprint("--seed=", rng.Uint32()))
		flags := []string{"--query=aml/patterns", "--properties=aml/properties.yaml", "--within=72h",
			"--unit=subgraphs"}
		run := func(out string, args ...string) {
			succeed(t, dir, slices.Concat(args, flags, []string{"--out=" + out})...)
		}
		run("oracle.jsonl", "match", "--graph=aml/payments.jsonl", "--backend=reference")
		want := edgeSets(t, filepath.Join(dir, "oracle.jsonl"), "+")
		require.Equal(t, slices.Compact(slices.Clone(want)), want, "found twice")
		for i, batch := range []string{"1", "13", "1000"} {
			out := filepath.Join(dir, "found.jsonl")
			args := []string{"replay", "--updates=aml/payments.jsonl", "--batch=" + batch}
			run(out, args...)
			require.Equal(t, want, edgeSets(t, out, "+"))
			require.Empty(t, edgeSets(t, out, "-"))
			if i < 2 {
				run(out, append(args, "--retention=TRANSFER=72h")...)
				require.Equal(t, want, edgeSets(t, out, "+"), "with a retention")
				require.NotEmpty(t, edgeSets(t, out, "-"))
			}
		}

		planted := map[string]*payments.Case{} // by the id of a payment
		for line := range strings.Lines(readFile(t, filepath.Join(dir, "aml", "cases.jsonl"))) {
			c := new(payments.Case)
			require.NoError(t, json.Unmarshal([]byte(line), c))
			for _, p := range c.Payments {
				planted[p.ID] = c
			}
		}
		found := map[*payments.Case]bool{}
		for _, match := range want {
			words := strings.Fields(match)
			c := planted[words[1]]
			if c != nil && strings.HasPrefix(words[0], string(c.Typology)) &&
				!slices.ContainsFunc(words[1:], func(id string) bool { return planted[id] != c }) {
				found[c] = true
			}
		}
		for _, c := range planted {
			require.Equal(t, c.Fits, found[c], "%+v", c)
			if c.Fits {
				fits[c.Typology]++
			} else {
				unfit[c.Typology]++
			}
		}
	})
}

// TestSynthRefuses: what is out of range, and a directory that is there, are refused.
func TestSynthRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, flag := range []string{"--accounts=63", "--payments=-1", "--cases=2000000000", "--span=1h"} {
		r := motifd(t, dir, "synth", "new", flag)
		require.Equal(t, exitRefused, r.code)
		require.Contains(t, r.stderr, "is out of range")
		require.NoDirExists(t, filepath.Join(dir, "new"))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "old"), 0o755))
	r := motifd(t, dir, "synth", "old")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.stderr, "creating the directory: mkdir old: file exists")
	require.NoDirExists(t, filepath.Join(dir, "old", "patterns"))
}
