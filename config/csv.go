package config

import (
	"fmt"
	"maps"
	"slices"
)

// csvFields are the fields of an update that a CSV column can give.
var csvFields = []string{"op", "from", "to", "label", "from_label", "to_label", "id", "ts", "key"}

// CheckCSV checks a mapping of update fields to CSV columns. Columns are looked up when the header is read.
func CheckCSV(mapping map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(mapping)) {
		if !slices.Contains(csvFields, name) {
			return fmt.Errorf("%s", unknown("update field", name, slices.Clone(csvFields)))
		}
	}
	return nil
}
