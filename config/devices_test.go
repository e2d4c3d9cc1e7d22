package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDevices reads every form of engine.device, from text and from a file, and writes it again.
func TestDevices(t *testing.T) {
	for _, c := range []struct {
		yaml, text string
		list       []int
	}{{"0", "0", []int{0}}, {"3", "3", []int{3}}, {"'0,1'", "0,1", []int{0, 1}}, {"[0, 1]", " 0, 1 ", []int{0, 1}},
		{"[2]", "2", []int{2}}, {"all", "all", []int{0, 1, 2, 3}}} {
		var d Devices
		require.NoError(t, d.UnmarshalText([]byte(c.text)))
		require.Equal(t, c.list, d.List(4))
		cfg := Default()
		cfg.src = newSources()
		require.Empty(t, bindFile(cfg, "c.yaml", []byte("engine: {device: "+c.yaml+"}")), c.yaml)
		require.Equal(t, d, cfg.Engine.Device)
		var again Devices
		require.NoError(t, again.UnmarshalText([]byte(d.String())))
		require.Equal(t, d, again)
	}
	require.Equal(t, []int{0}, Devices{}.List(4))
	require.Equal(t, "0", Devices{}.String())
	for _, text := range []string{"", "x", "0,", "all,0", "0.5"} {
		require.ErrorContains(t, new(Devices).UnmarshalText([]byte(text)), "neither the number of a GPU", text)
	}
	require.NoError(t, Devices{Numbers: []int{1, 0}}.Check())
	require.EqualError(t, Devices{Numbers: []int{0, -1}}.Check(), "is -1; the first GPU is 0")
	require.EqualError(t, Devices{Numbers: []int{1, 0, 1}}.Check(), "names GPU 1 twice")
	cfg := Default()
	cfg.src = newSources()
	require.ErrorContains(t, bindFile(cfg, "c.yaml", []byte("engine: {device: {a: 1}}")), "a section with fields")
	require.ErrorContains(t, bindFile(cfg, "c.yaml", []byte("engine: {device: [[0]]}")), "expected the number of a GPU")
}
