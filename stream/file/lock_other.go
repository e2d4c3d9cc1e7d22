//go:build !unix

package file

import (
	"errors"
	"os"
)

// lock refuses: exactly-once output to files needs locks that this system does not have.
func lock(*os.File) error { return errors.New("file output is supported on Unix systems only") }
