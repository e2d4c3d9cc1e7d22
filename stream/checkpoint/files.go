package checkpoint

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// InputFiles returns the names of the input's files, by partition, that KeepInputFiles stored last; nil when there are
// none. The caller does not change them.
func (s *Store) InputFiles() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files
}

// KeepInputFiles stores the names of the input's files, by partition, so that positions stay with the files that they
// are of, whatever comes into their directory and goes. It is called before any of them is read; the names are durable
// when it returns.
func (s *Store) KeepInputFiles(names []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Equal(names, s.files) {
		return nil
	}
	if err := s.keep(keyFiles, appendNames([]byte{codecVersion}, names)); err != nil {
		return err
	}
	s.files = slices.Clone(names)
	return nil
}

// appendNames appends how many names there are, and the names.
func appendNames(b []byte, names []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(names)))
	for _, name := range names {
		b = appendString(b, name)
	}
	return b
}

// names reads what appendNames wrote, to the end; what says whose names they are.
func (d *decoder) names(what string) ([]string, error) {
	names := make([]string, d.count(1))
	for i := range names {
		names[i] = d.string()
	}
	return names, d.finish(what)
}

// readNames reads a record of names, nil when it is not there.
func readNames(db *database, key []byte, what string) ([]string, error) {
	v, ok, err := db.get(key)
	if err != nil || !ok {
		return nil, err
	}
	d, err := verified(key, v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", db.dir, err)
	}
	names, err := d.names(what)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", db.dir, err)
	}
	return names, nil
}
