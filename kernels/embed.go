//go:build cuda

package kernels

import (
	"embed"
	"fmt"
	"strings"
)

// kernelFiles are the kernels as clang made them: ptx/generate.sh.
//
//go:embed ptx/*.ptx
var kernelFiles embed.FS

// kernelNames lists the kernels. Each is in a file of its name.
func kernelNames() (names []string) {
	files, _ := kernelFiles.ReadDir("ptx") // it is there, or this would not have compiled
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".ptx"))
	}
	return names
}

func ptxOf(name string) (string, error) {
	b, err := kernelFiles.ReadFile("ptx/" + name + ".ptx")
	if err != nil {
		return "", fmt.Errorf("kernel %s: %w", name, err)
	}
	return string(b), nil
}
