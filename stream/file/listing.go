package file

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// listing is the files of a directory, by partition. A file keeps its partition whatever comes into the directory and
// goes.
type listing struct {
	names []string // without the directory
	gone  []bool   // those that were known and are not there any more
	total int64    // bytes of those that are there
}

// list lists a directory: what is known already, in that order, then all others by name.
func list(dir string, known []string) (*listing, error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	l := &listing{names: slices.Clone(known)}
	for _, name := range known {
		there[name] = false
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			continue
		}
		l.total += info.Size()
		if _, ok := there[e.Name()]; !ok {
			l.names = append(l.names, e.Name())
		}
		there[e.Name()] = true
	}
	if len(l.names) == 0 {
		return nil, fmt.Errorf("directory %s holds no files", dir)
	}
	for _, name := range l.names {
		l.gone = append(l.gone, !there[name])
	}
	return l, nil
}
