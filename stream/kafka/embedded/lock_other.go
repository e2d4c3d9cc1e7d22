//go:build !unix

package embedded

import (
	"fmt"
	"os"
	"runtime"
)

func lockFile(path string) (*os.File, error) {
	return nil, fmt.Errorf(
		"lock %s: file locks on %s are not supported; keep the embedded log in memory",
		path,
		runtime.GOOS,
	)
}
