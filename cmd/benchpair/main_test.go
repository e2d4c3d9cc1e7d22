package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// program writes a shell script that answers as motifd does with --summary, its last argument.
func program(t *testing.T, answers string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "motifd")
	script := fmt.Sprintf("#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\necho '%s' > \"$1\"\n", answers)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPairsAnswersMustAgree: pairs of programs that find the same are compared, of programs that differ they are
// refused.
func TestPairsAnswersMustAgree(t *testing.T) {
	one := program(t, `{"queries":[{"name":"q","positive":7,"negative":2,"match_s":0.5}]}`)
	two := program(t, `{"queries":[{"name":"q","positive":7,"negative":2,"match_s":0.9}]}`)
	other := program(t, `{"queries":[{"name":"q","positive":7,"negative":3}]}`)
	for _, x := range []struct {
		now   string
		fails bool
	}{{two, false}, {other, true}} {
		c := comparison{ctx: t.Context(), programs: [2]string{one, x.now},
			summary: filepath.Join(t.TempDir(), "summary.json")}
		list := []benchmark{{name: "some", args: []string{"replay"}}}
		var err error
		for n := 0; n < 4 && err == nil; n++ {
			err = c.pair(&list[0], n)
		}
		if x.fails {
			if err == nil || !strings.Contains(err.Error(), x.now) {
				t.Errorf("the error is %v, want one that names %s", err, x.now)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := print(&out, list); err != nil || !strings.Contains(out.String(), "medians of 4 pairs") {
			t.Errorf("%v, the table is\n%s", err, &out)
		}
	}
}

// TestMedian: the middle, or the mean of the two in the middle.
func TestMedian(t *testing.T) {
	if got := median([]float64{3, 1, 2}); got != 2 {
		t.Errorf("the median of 3, 1, 2 is %v", got)
	}
	if got := median([]float64{4, 1, 2, 3}); got != 2.5 {
		t.Errorf("the median of 4, 1, 2, 3 is %v", got)
	}
}
