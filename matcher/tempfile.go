package matcher

import (
	"errors"
	"os"
)

// TempFile opens a file for what does not fit in memory: matches to be sorted or merged, or an open transaction. It is in a directory ("": that of the
// system) under no name, so that nothing is left behind however the process ends; kind is part of the name that it has for a moment. The caller
// closes it.
func TempFile(dir, kind string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "motifd-"+kind+"-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
