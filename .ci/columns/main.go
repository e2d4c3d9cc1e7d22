// Command columns names the lines above 120 columns in the repository's sources, scripts, configurations and pages;
// tabs stop at multiples of 4. It ends with status 1 when there are some. Exempt are generated Go files, test data and,
// in Markdown, lines that are a link alone.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

const limit = 120

var (
	generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	// kinds are the files that are read, as Git's path patterns.
	kinds = []string{"*.go", "*.s", "*.cu", "*.cuh", "*.c", "*.cpp", "*.h", "*.md", "*.sh", "*.py", "*.yml", "*.yaml",
		"*.xml", "*Makefile", "*Dockerfile", ".ci/run", ".ci/kafka/fetch", ":!testdata/", ":!*/testdata/*"}
	linkAlone = regexp.MustCompile(`^\s*([-*] )?(<?https?://\S+|\[[^\]]*\](: |\()\S+)$`)
)

func main() {
	// Also files that are still to be added.
	args := []string{"ls-files", "-co", "--exclude-standard", "-z", "--"}
	list, err := exec.Command("git", append(args, kinds...)...).Output()
	if err != nil {
		fmt.Fprintln(os.Stderr, "columns: git ls-files:", err)
		os.Exit(2)
	}
	long := 0
	for name := range bytes.SplitSeq(bytes.TrimSuffix(list, []byte{0}), []byte{0}) {
		path := string(name)
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) { // removed, and not committed yet
			continue
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "columns:", err)
			os.Exit(2)
		}
		if filepath.Ext(path) == ".go" && generated.Match(text) {
			continue
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			line = strings.TrimRight(line, "\r\n")
			columns := width(line)
			if columns <= limit || filepath.Ext(path) == ".md" && linkAlone.MatchString(line) {
				continue
			}
			long++
			fmt.Fprintf(os.Stderr, "%s:%d: %d columns; at most %d are allowed\n", path, n, columns, limit)
		}
	}
	if long > 0 {
		os.Exit(1)
	}
}

// width returns the number of columns of a line.
func width(line string) int {
	n := 0
	for _, r := range line {
		if n++; r == '\t' {
			n = (n + 3) / 4 * 4
		}
	}
	return n
}
