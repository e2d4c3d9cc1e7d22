package metrics

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// TestP5MetricsAreDocumented holds that docs/metrics.md tells of every metric, and of no other.
func TestP5MetricsAreDocumented(t *testing.T) {
	documented := map[string]bool{}
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "metrics.md"))
	require.NoError(t, err)
	for line := range strings.Lines(string(page)) {
		if m := regexp.MustCompile("^\\| `(motifd_[a-z_]+)").FindStringSubmatch(line); m != nil {
			documented[m[1]] = true
		}
	}
	known := map[string]bool{}
	descs := make(chan *prometheus.Desc, 1000)
	New(Options{}).Registry.Describe(descs)
	close(descs)
	for d := range descs {
		name := regexp.MustCompile(`fqName: "([^"]+)"`).FindStringSubmatch(d.String())[1]
		if strings.HasPrefix(name, "motifd_") {
			known[name] = true
		}
	}
	require.Equal(t, known, documented)
}
