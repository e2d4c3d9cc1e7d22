package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

// arrows are the imports that DESIGN H allows, or A needs, by package below motifd/: what a package may import of
// ours. Tests may import more, but for the parents of what they test.
var arrows = map[string][]string{
	"dyngraph": {"dyngraph/property"},
	"matcher":  {"dyngraph", "dyngraph/property", "matcher/condition"},
	"kernels":  {},
	// cpu: A11 has it search what would not fill the GPU
	"matcher/cuda": {"matcher", "dyngraph", "dyngraph/property", "matcher/condition", "matcher/internal/candidates",
		"matcher/internal/truths", "kernels", "matcher/cpu", "matcher/internal/rowsort", "matcher/cuda/device",
		"matcher/cuda/internal/mirror", "matcher/cuda/placement"},
	"matcher/cuda/device": {"kernels"},
	"matcher/cuda/internal/mirror": {"dyngraph", "matcher/internal/candidates", "matcher/internal/truths", "kernels",
		"matcher/cuda/device"},
	"matcher/cuda/cudatest":           {"kernels"},
	"matcher/cuda/placement":          {"matcher", "dyngraph", "kernels"},
	"matcher/pattern":                 {"matcher", "dyngraph", "dyngraph/property", "matcher/condition"},
	"dyngraph/property":               {},
	"matcher/condition":               {"dyngraph/property"},
	"matcher/condition/conditiontest": {"dyngraph/property", "matcher/condition"},
	"matcher/plan":                    {"matcher", "dyngraph", "dyngraph/property", "matcher/condition"},
	"matcher/paths":                   {"matcher", "dyngraph"},
	"matcher/internal/candidates":     {"matcher", "dyngraph", "matcher/plan", "matcher/internal/truths"},
	"matcher/internal/truths":         {"matcher", "dyngraph", "dyngraph/property", "matcher/condition"},
	"matcher/cpu": {"matcher", "dyngraph", "matcher/internal/candidates", "matcher/internal/truths",
		"matcher/cpu/internal/program", "matcher/cpu/internal/backtrack", "matcher/cpu/internal/neighbors",
		"matcher/internal/rowsort", "matcher/cpu/internal/work", "matcher/cpu/internal/labeladj",
		"matcher/cpu/internal/count", "matcher/cpu/internal/ivm", "matcher/cpu/internal/space"},
	"matcher/cpu/internal/space": {"matcher", "dyngraph", "matcher/internal/candidates", "matcher/internal/truths",
		"matcher/cpu/internal/program"},
	"matcher/cpu/internal/labeladj": {"matcher", "dyngraph"},
	"matcher/cpu/internal/ivm": {"matcher", "dyngraph", "matcher/cpu/internal/program", "matcher/cpu/internal/labeladj",
		"matcher/cpu/internal/count"},
	"matcher/cpu/internal/count": {"matcher", "dyngraph", "matcher/internal/candidates", "matcher/internal/truths",
		"matcher/cpu/internal/program", "matcher/cpu/internal/work", "matcher/cpu/internal/labeladj",
		"matcher/cpu/internal/neighbors"},
	"matcher/cpu/internal/program": {"matcher", "dyngraph", "dyngraph/property", "matcher/condition",
		"matcher/internal/candidates", "matcher/internal/truths"},
	"matcher/cpu/internal/work": {"matcher"},
	"matcher/internal/rowsort":  {"matcher", "dyngraph"},
	"matcher/internal/residual": {"matcher", "dyngraph", "dyngraph/property", "matcher/condition"},
	"matcher/cpu/internal/neighbors": {"matcher", "dyngraph", "matcher/internal/candidates",
		"matcher/internal/truths", "matcher/cpu/internal/program"},
	"matcher/cpu/internal/backtrack": {"matcher", "dyngraph", "matcher/internal/candidates", "matcher/internal/truths",
		"matcher/cpu/internal/program", "matcher/cpu/internal/work", "matcher/cpu/internal/neighbors",
		"matcher/internal/rowsort"},
	"matcher/groups": {"matcher", "dyngraph", "dyngraph/property", "matcher/condition", "matcher/internal/residual"},
	"matcher/negation": {"matcher", "dyngraph", "dyngraph/property", "matcher/condition", "matcher/internal/residual",
		"matcher/internal/rowsort"},
	"matcher/reference": {"matcher", "dyngraph", "dyngraph/property", "matcher/condition",
		"matcher/plan"},
	"stream": {"matcher", "dyngraph", "dyngraph/property", "stream/internal/encode",
		"stream/eventtime"},
	"stream/eventtime":                  {"dyngraph"},
	"stream/internal/encode":            {"matcher"},
	"stream/codec":                      {"stream", "matcher", "dyngraph", "dyngraph/property", "matcher/condition"},
	"stream/file":                       {"stream", "matcher", "dyngraph"},
	"stream/kafka":                      {"stream/kafka/internal/recordbatch", "stream/kafka/internal/wire"},
	"stream/kafka/internal/wire":        {},
	"stream/kafka/internal/recordbatch": {"stream/kafka/internal/wire"},
	"stream/kafka/source": {"stream", "stream/kafka", "stream/kafka/internal/recordbatch",
		"stream/kafka/internal/wire"},
	"stream/kafka/publish": {"stream", "dyngraph", "stream/kafka", "stream/kafka/internal/recordbatch",
		"stream/tempfile"},
	"stream/kafka/admin": {"stream/kafka"},
	"stream/kafka/embedded": {"stream", "stream/kafka", "stream/kafka/admin",
		"stream/kafka/internal/recordbatch"},
	"stream/checkpoint": {"stream", "stream/eventtime", "matcher", "dyngraph", "dyngraph/property"},
	"config": {"dyngraph", "dyngraph/property", "matcher", "matcher/condition", "matcher/pattern", "matcher/cpu",
		"stream", "stream/codec", "stream/eventtime",
		"stream/file", "stream/kafka", "stream/kafka/source", "stream/kafka/publish", "stream/checkpoint"},
	// the library: it wires the matcher for those who embed it, cmd/motifd included
	"stream/monitor": {"dyngraph", "dyngraph/property", "matcher", "matcher/condition", "matcher/pattern",
		"matcher/plan", "matcher/paths", "matcher/cpu", "matcher/groups", "matcher/negation", "stream/codec",
		"stream/tempfile"},
	"docs":                          {},
	"cmd/motifd":                    nil, // all
	"cmd/motifd/internal/audit":     {"dyngraph", "matcher", "stream", "stream/checkpoint"},
	"cmd/motifd/internal/command":   {},
	"cmd/motifd/internal/benchcase": {"cmd/motifd/internal/command", "matcher", "matcher/pattern"},
	"cmd/motifd/internal/bench":     {"cmd/motifd/internal/command", "cmd/motifd/internal/benchcase"},
	"cmd/motifd/internal/admin": {"cmd/motifd/internal/command", "cmd/motifd/internal/health", "config",
		"dyngraph/property", "matcher", "stream"},
	"cmd/motifd/internal/copies":   {"stream/checkpoint"},
	"cmd/motifd/internal/estimate": {"cmd/motifd/internal/command", "dyngraph", "matcher", "stream"},
	"cmd/motifd/internal/health":   {"stream", "stream/checkpoint"},
	"cmd/motifd/internal/metrics": {"dyngraph", "matcher", "stream", "stream/checkpoint", "stream/kafka",
		"stream/kafka/publish"},
	"cmd/motifd/internal/timeline": {"cmd/motifd/internal/command", "matcher", "stream"},
	"cmd/motifd/internal/payments": {"dyngraph"},
	"cmd/motifd/internal/sizing":   {},
	"cmd/motifd/internal/demo": {"cmd/motifd/internal/command", "cmd/motifd/internal/payments", "config", "dyngraph",
		"matcher", "stream", "stream/kafka", "stream/kafka/admin", "stream/kafka/embedded", "stream/kafka/publish",
		"stream/kafka/source"},
	"cmd/benchpair":   {},
	"stream/tempfile": {"matcher"},
	"matcher/matchertest": {"matcher", "dyngraph", "dyngraph/property", "matcher/condition", "matcher/plan",
		"matcher/reference", "matcher/pattern"},
	"stream/streamtest":       {"stream", "matcher", "dyngraph"},
	"stream/kafka/brokertest": {},
	"stream/kafka/internal/kafkatest": {"stream", "dyngraph", "stream/kafka", "stream/kafka/admin",
		"stream/kafka/embedded", "stream/kafka/brokertest"},
}

// testOnly packages are imported by tests alone.
var testOnly = []string{"matcher/condition/conditiontest", "matcher/matchertest", "matcher/cuda/cudatest",
	"stream/streamtest", "stream/kafka/brokertest",
	"stream/kafka/internal/kafkatest"}

// listed is a package as go list shows it.
type listed struct {
	ImportPath string
	Imports    []string
	CgoFiles   []string
	Module     *struct{ Path string }
}

// golist lists packages, with cgo files or without.
func golist(t *testing.T, cgo bool, args ...string) []listed {
	t.Helper()
	enabled := map[bool]string{false: "CGO_ENABLED=0", true: "CGO_ENABLED=1"}[cgo]
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,CgoFiles,Module"}, args...)...)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), enabled)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else {
			require.NoError(t, err)
		}
		all = append(all, p)
	}
}

// TestImportArrows holds the house: who may import whom, in the default build and in those with the GPU backend.
func TestImportArrows(t *testing.T) {
	matchertest.NotUnderRace(t, "it reads sources on one goroutine")
	const module = "motifd/"
	found := map[string]bool{}
	for _, tags := range []string{"", "emu", "cuda"} {
		for _, p := range golist(t, true, "-tags", tags, "./...") {
			name := strings.TrimPrefix(p.ImportPath, module)
			found[name] = true
			allowed, known := arrows[name]
			if !known {
				t.Errorf("package %s has no place in the house; DESIGN H and this test list them", p.ImportPath)
				continue
			}
			for _, imported := range p.Imports {
				ours, ok := strings.CutPrefix(imported, module)
				if !ok {
					continue
				}
				if slices.Contains(testOnly, ours) && !slices.Contains(testOnly, name) {
					t.Errorf("%s imports %s, which is for tests", p.ImportPath, imported)
				}
				if allowed != nil && !slices.Contains(allowed, ours) {
					t.Errorf("%s must not import %s (build tags: %q)", p.ImportPath, imported, tags)
				}
			}
		}
	}
	for name := range arrows {
		if !found[name] {
			t.Errorf("there is no package %s in the house", name)
		}
	}
}

// TestDefaultBuildIsPureGo holds that the default build links no cgo package and no GPU code.
func TestDefaultBuildIsPureGo(t *testing.T) {
	matchertest.NotUnderRace(t, "it reads sources on one goroutine")
	for _, p := range golist(t, false, "-deps", "./cmd/motifd") {
		if p.Module != nil && len(p.CgoFiles) > 0 {
			t.Errorf("%s has cgo files", p.ImportPath)
		}
		if strings.HasPrefix(p.ImportPath, "gorgonia.org/") || strings.HasPrefix(p.ImportPath, "motifd/kernels") ||
			strings.HasPrefix(p.ImportPath, "motifd/matcher/cuda") {
			t.Errorf("the default build links %s", p.ImportPath)
		}
	}
}
