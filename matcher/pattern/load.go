package pattern

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"motifd/matcher"
)

// extensions of pattern files, in lower case.
var extensions = map[string]string{".cypher": Cypher, ".txt": Text, ".graph": Text}

// ErrExtension is wrapped when the name of a file does not say what language it is in.
var ErrExtension = errors.New("not a pattern file: its name ends in none of .cypher, .txt and .graph")

// LanguageOf tells by a file's extension what language a pattern in it is written in.
func LanguageOf(filename string) (language string, ok bool) {
	language, ok = extensions[strings.ToLower(filepath.Ext(filename))]
	return language, ok
}

// ParseFile reads the pattern in a file; the query is named like the file, without its extension.
func ParseFile(path string, opt Options) (*matcher.Query, error) {
	language, ok := LanguageOf(path)
	if !ok {
		return nil, fmt.Errorf("%s: %w", path, ErrExtension)
	}
	src, err := readPattern(path)
	if err != nil {
		return nil, err
	}
	opt.Name, opt.File = queryName(path), path
	return Parse(language, src, opt)
}

// Load reads the pattern in a file, or those in a directory, ordered by query name. A directory's subdirectories,
// hidden files and files with other extensions are passed over. Every file is read, so that the error tells of all
// mistakes.
func Load(path string, opt Options) ([]*matcher.Query, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading patterns: %w", err)
	}
	if !info.IsDir() {
		q, err := ParseFile(path, opt)
		if err != nil {
			return nil, err
		}
		return []*matcher.Query{q}, nil
	}
	files, err := patternFiles(path)
	if err != nil {
		return nil, err
	}
	var queries []*matcher.Query
	var errs []error
	for _, f := range files {
		q, err := ParseFile(f, opt)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		queries = append(queries, q)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return queries, nil
}

// patternFiles lists a directory's pattern files by query name.
func patternFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading patterns: %w", err)
	}
	var files []string
	for _, e := range entries {
		if _, ok := LanguageOf(e.Name()); !ok || e.Name()[0] == '.' {
			continue
		}
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path) // not e.Info: a link counts as what it leads to
		if err != nil {
			return nil, fmt.Errorf("reading patterns: %w", err)
		}
		if !info.IsDir() {
			files = append(files, path)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: the directory holds no pattern file (.cypher, .txt or .graph)", dir)
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Compare(queryName(a), queryName(b)) })
	for i := 1; i < len(files); i++ {
		if name := queryName(files[i]); name == queryName(files[i-1]) {
			return nil, fmt.Errorf("%s and %s: both would be query %q; rename one", files[i-1], files[i], name)
		}
	}
	return files, nil
}

// queryName is the file's name without its extension.
func queryName(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// readPattern reads a file, but no more of it than Parse needs to see that it is too large.
func readPattern(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading a pattern: %w", err)
	}
	defer f.Close() // opened for reading: closing it can lose nothing
	src, err := io.ReadAll(io.LimitReader(f, MaxSource+1))
	if err != nil {
		return nil, fmt.Errorf("reading a pattern: %w", err)
	}
	return src, nil
}
