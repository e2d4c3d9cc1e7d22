// Package tempfile opens temporary files that leave nothing behind, however the process ends.
package tempfile

import (
	"errors"
	"os"

	"motifd/matcher"
)

// Open opens a temporary file in a directory, or in that of the system if dir is empty. The file has no name any more
// when Open returns; kind is part of the name that it has for a moment. The caller closes it.
func Open(dir, kind string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "motifd-"+kind+"-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// In returns what opens the files of a backend in a directory, or in that of the system if dir is empty.
func In(dir string) matcher.TempFiles {
	return func() (matcher.TempFile, error) {
		f, err := Open(dir, "matches")
		if err != nil {
			return nil, err
		}
		return f, nil
	}
}
