package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

// TestS11TheStoryOfOneHub runs the script that a user may run, too.
func TestS11TheStoryOfOneHub(t *testing.T) {
	matchertest.NotUnderRace(t, "it takes 10 seconds of processors")
	t.Parallel()
	port := freePort(t)
	cmd := exec.CommandContext(t.Context(), "sh", filepath.Join("stories", "one-hub.sh"))
	cmd.Env = append(os.Environ(), "MOTIFD="+binary, "PORT="+strconv.Itoa(port),
		"DIR="+filepath.Join(t.TempDir(), "hub"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "Everything held.")
}
