package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"motifd/config"
	"motifd/matcher/matchertest"
	"motifd/stream"
)

// TestS10Refusals holds what motifd says to a wrong command line, pattern, graph or configuration: status 2, what is
// wrong, where, and what would be right. The answers are in testdata/refusals.golden.
func TestS10Refusals(t *testing.T) {
	matchertest.NotUnderRace(t, "its commands end before they start a thread")
	t.Parallel()
	dir := write(t, map[string]string{
		"g.txt": "v 0 0\nv 1 0\ne 0 1\n", "u.txt": "e 0 2\n", "u.csv": "a,b\n1,2\n", "u.data": "",
		"ok.cypher":    "MATCH (a)-->(b)",
		"loop.txt":     "v 0 A\nv 1 A\n\ne 0 0\n",
		"where.cypher": "MATCH (a)-->(b)\nWHERE a.x = 1",
		"arrow.cypher": "MATCH (a)-->(b)",
		"bad.txt":      "v 0 0\nv 1 1\n\ne 0 1\ne 1 1\n",
		"clash.txt":    "v 0 0\nv 0 1\n",
		"bad.yaml":     "batch: {lingr: 3}\n",
		"cuda.yaml":    "input: {file: {path: u.txt}}\noutput: {file: {path: out.jsonl}}\ncheckpoint: {dir: state}\n",
		"empty.yaml":   "",
	})
	var b strings.Builder
	for _, line := range []string{
		"nosuch",
		"replay",
		"replay --updates u.txt",
		"replay --updates u.txt --query ok.cypher --emit delta",
		"replay --updates u.txt --query ok.cypher --backend cuda",
		"replay --updates u.txt --query ok.cypher --backend gpu",
		"replay --updates u.txt --query ok.cypher --batch -1",
		"replay --updates u.txt --query ok.cypher --threads -1",
		"replay --updates u.txt --query ok.cypher --device=-1",
		"replay --updates u.txt --query ok.cypher --out u.txt",
		"replay --updates missing.txt --query ok.cypher",
		"replay --updates u.data --query ok.cypher",
		"replay --updates u.csv --query ok.cypher",
		"replay --updates u.csv --query ok.cypher --csv from=a,too=b",
		"replay --updates - --query ok.cypher",
		"replay --updates u.txt --query missing.cypher",
		"replay --updates u.txt --query loop.txt --query where.cypher",
		"replay --updates u.txt --query arrow.cypher --undirected",
		"replay --updates u.txt --query ok.cypher --query ok.cypher",
		"replay --graph bad.txt --updates u.txt --query ok.cypher",
		"replay --graph clash.txt --updates u.txt --query ok.cypher",
		"replay --updates u.txt --query ok.cypher --max-expired 100000",
		"replay --updates u.txt --query ok.cypher --retention *=1d --max-expired 0",
		"replay --batch-log . --updates u.txt",
		"replay --batch-log . --max-expired 100000",
		"match --graph g.txt",
		"query add ok.cypher --nme x",
		"query",
		"match --graph bad.txt --query ok.cypher",
		"match --graph g.txt --query ok.cypher --backend cuda",
		"explain where.cypher",
		"query validate loop.txt where.cypher ok.cypher",
		"query add u.data",
		"checkpoint info missing",
		"demo --duration 0s",
		"demo --rate 0",
		"run",
		"run -c missing.yaml",
		"run -c empty.yaml",
		"run -c bad.yaml",
		"run -c empty.yaml --set batch.linger",
		"run -c cuda.yaml --backend cuda",
	} {
		r := motifd(t, dir, strings.Fields(line)...)
		require.NotZero(t, r.code, line)
		require.Empty(t, r.stdout, line)
		fmt.Fprintf(&b, "$ motifd %s\n%s[%d]\n\n", line, r.stderr, r.code)
	}
	golden(t, filepath.Join("testdata", "refusals.golden"), strings.ReplaceAll(b.String(), dir, "DIR"))
}

// TestHelp holds that --help of every command teaches with an example.
func TestHelp(t *testing.T) {
	matchertest.NotUnderRace(t, "its commands end before they start a thread")
	t.Parallel()
	for _, command := range []string{
		"run", "demo", "replay", "match", "explain", "query", "query add", "query list", "query remove", "query resume",
		"query validate", "checkpoint", "checkpoint info", "checkpoint verify", "checkpoint backup",
		"checkpoint suspend", "checkpoint migrate", "audit", "config defaults", "vertices load", "size", "synth",
		"topics", "topics create", "topics check", "bench", "version",
	} {
		r := succeed(t, ".", append(strings.Fields(command), "--help")...)
		require.Contains(t, r.stdout, "Example", command)
		require.Contains(t, r.stdout, "motifd "+command, command)
	}
	require.Contains(t, succeed(t, ".").stdout, "Usage: motifd")
	for asked, usual := range map[string]string{
		"help": "--help", "help query add": "query add --help", "--version": "version",
	} {
		got := succeed(t, ".", strings.Fields(asked)...).stdout
		require.Equal(t, succeed(t, ".", strings.Fields(usual)...).stdout, got, asked)
	}
	require.Regexp(t, `^motifd (dev|v\d)`, succeed(t, ".", "version").stdout) // what Go knows of the checkout
}

// TestHelpTellsDefaults: where a placeholder stands in the place of a default, the text has it.
func TestHelpTellsDefaults(t *testing.T) {
	parser, err := kong.New(&cli{}, helpTexts)
	require.NoError(t, err)
	for _, command := range parser.Model.Leaves(false) {
		for _, f := range command.Flags {
			if f.HasDefault && f.PlaceHolder != "" {
				require.Contains(t, f.Help, f.Default, "%s --%s", command.FullPath(), f.Name)
			}
		}
	}
}

// TestExplain prints a plan.
func TestExplain(t *testing.T) {
	dir := write(t, map[string]string{"g.txt": "v 0 0\nv 1 0\ne 0 1\n", "ring.cypher": "MATCH (a)-->(b)-->(c)-->(a)"})
	r := succeed(t, dir, "explain", "ring.cypher", "--graph", "g.txt")
	require.Contains(t, r.stdout, "ring")
}

// TestAdviceOnLostInput: what Kafka's setting does is advice for Kafka's input alone.
func TestAdviceOnLostInput(t *testing.T) {
	t.Parallel()
	lost := fmt.Errorf("reading: %w", stream.ErrDataLoss)
	s := &service{cfg: &config.Config{}}
	s.cfg.Output.Kafka = &config.KafkaOutput{}
	require.Equal(t, lost, s.advise(lost))
	s.cfg.Input.Kafka = &config.KafkaInput{}
	require.ErrorContains(t, s.advise(lost), "input.kafka.on_data_loss")
}
