package main

import (
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

// TestVersion holds that a build says the best that it knows of its version.
func TestVersion(t *testing.T) {
	info := func(main string, settings ...string) func() (*debug.BuildInfo, bool) {
		b := &debug.BuildInfo{Main: debug.Module{Version: main}}
		for i := 0; i < len(settings); i += 2 {
			b.Settings = append(b.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
		}
		return func() (*debug.BuildInfo, bool) { return b, true }
	}
	const revision = "0123456789abcdef0123"
	for want, got := range map[string]string{
		"v1.2.3":                 versionOf("v1.2.3", info("v9", "vcs.revision", revision)),
		"v1.4.0":                 versionOf("", info("v1.4.0", "vcs.revision", revision)),
		"dev-0123456789ab":       versionOf("", info("(devel)", "vcs.revision", revision, "vcs.modified", "false")),
		"dev-0123456789ab-dirty": versionOf("", info("(devel)", "vcs.revision", revision, "vcs.modified", "true")),
		"dev": versionOf("", info("(devel)")) +
			versionOf("", func() (*debug.BuildInfo, bool) { return nil, false })[3:],
	} {
		require.Equal(t, want, got)
	}
}

// TestVersionIsLinked holds that the program shows the version that the Makefile and the Dockerfile give the linker.
func TestVersionIsLinked(t *testing.T) {
	matchertest.NotUnderRace(t, "its program is built without it")
	t.Parallel()
	const flag = "-X main.linked="
	for _, file := range []string{"Makefile", ".docker/Dockerfile"} {
		text := readFile(t, filepath.Join("..", "..", file))
		require.Contains(t, text, flag, file)
		require.NotContains(t, text, "main.version", file)
	}
	binary := filepath.Join(t.TempDir(), "motifd")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags", flag+"v7.8.9", "-o", binary, ".").
		CombinedOutput()
	require.NoError(t, err, string(out))
	out, err = exec.CommandContext(t.Context(), binary, "version").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "motifd v7.8.9 ")
}
