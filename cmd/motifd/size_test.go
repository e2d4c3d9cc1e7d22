package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSize asks for the size of a graph, in a table and in JSON, by flags and by a configuration; what is no number is
// refused.
func TestSize(t *testing.T) {
	dir := write(t, map[string]string{"motifd.yaml": `
graph:
  directed: false
  retention: {"*": 6h}
  properties:
    edges: {"*": {ts: timestamp, amount: int64, channel: string}}
    vertices: {"*": {risk: int64}}
queues: {input_bytes: 1MiB, output_bytes: 2MiB}
checkpoint: {dir: state}
input: {file: {path: elsewhere/in.jsonl}}
output: {file: {path: elsewhere/out.jsonl}}
`})
	sized := func(args ...string) (r sizeReport) {
		t.Helper()
		args = append([]string{"size", "--edges=2M", "--vertices=100,000", "--json"}, args...)
		require.NoError(t, json.Unmarshal([]byte(succeed(t, dir, args...).stdout), &r))
		return r
	}
	part := func(r sizeReport, name string) uint64 {
		for _, p := range r.Host {
			if p.Name == name {
				return p.Bytes
			}
		}
		return 0
	}
	plain := sized()
	require.EqualValues(t, 2e6*47.5, part(plain, "edges"))
	require.Zero(t, part(plain, "properties of edges"))
	require.Greater(t, plain.PlanBytes, plain.HostBytes)
	require.Greater(t, plain.DeviceEdges[80], plain.DeviceEdges[16])

	configured := sized("-c", filepath.Join(dir, "motifd.yaml"))
	require.EqualValues(t, 3<<20, part(configured, "queues of input and output"))
	require.EqualValues(t, 2e6*2*9, part(configured, "properties of edges"))
	require.EqualValues(t, 2e6*9, part(configured, "timestamps"), "ts is declared")
	require.EqualValues(t, 1e5*9, part(configured, "properties of vertices"))
	require.EqualValues(t, 2e6*8, part(configured, "calendar of expiry"))
	require.Less(t, configured.DeviceBytes, plain.DeviceBytes, "an undirected graph has fewer spans")

	require.Contains(t, motifd(t, dir, "size", "--edges=3G", "--vertices=1M").stderr, "at most 2,147,483,646 edges")

	table := succeed(t, dir, "size", "--edges=46M", "--vertices=4.8M").stdout
	for _, title := range []string{"memory of the host", "disk of the checkpoint", "memory of each GPU",
		"46,000,000 x"} {
		require.Contains(t, table, title)
	}
	small := succeed(t, dir, "size", "--edges=20k", "--vertices=2000").stdout
	require.Regexp(t, `(?m)^  edges +928 KiB   20,000 x 47\.5 bytes$`, small, "small units, narrow columns")
	for args, want := range map[string]string{
		"--edges=46X": `"46X" is not a number from 0 to 2^32; write 5000000, 5M or 1.5G`,
		"--edges=-1":  "is not a number",
		"--edges=NaN": "is not a number",
		"--edges=5G":  "is not a number",
		"--edges=":    "is not a number",
	} {
		r := motifd(t, dir, "size", args, "--vertices=1")
		require.Equal(t, exitRefused, r.code, args)
		require.Contains(t, r.stderr, want, args)
	}
	require.Equal(t, exitRefused, motifd(t, dir, "size", "--edges=1", "--vertices=1", "--set=engine.threads=2").code)
}
