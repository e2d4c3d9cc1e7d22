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
	if err := s.keep(keyFiles, appendFiles([]byte{codecVersion}, names)); err != nil {
		return err
	}
	s.files = slices.Clone(names)
	return nil
}

func appendFiles(b []byte, names []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(names)))
	for _, name := range names {
		b = appendString(b, name)
	}
	return b
}

func (d *decoder) files() ([]string, error) {
	names := make([]string, d.count(1))
	for i := range names {
		names[i] = d.string()
	}
	return names, d.finish("the names of the input's files")
}

// readFiles reads the names, nil when none were stored.
func readFiles(db *database) ([]string, error) {
	v, ok, err := db.get(keyFiles)
	if err != nil || !ok {
		return nil, err
	}
	d, err := unseal(keyFiles, v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", db.dir, err)
	}
	names, err := d.files()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", db.dir, err)
	}
	return names, nil
}
