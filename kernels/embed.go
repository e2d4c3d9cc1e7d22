//go:build cuda

package kernels

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"strings"
)

// kernelFiles are the kernels: as clang made them (ptx/generate.sh), and as ptxas assembled that (cubin/generate.sh).
//
//go:embed ptx/*.ptx cubin/sm_*/*.cubin.gz
var kernelFiles embed.FS

// codePTX is the Info.Code of kernels that the driver compiled.
const codePTX = "ptx"

// cubinsFor names the cubins that run on devices of a compute capability; empty: none do. A cubin runs where the major
// version is its own and the minor version is not lower. Those of 9.0 are for 9.0 alone, as there is no 9.1 to try.
func cubinsFor(major, minor int) string {
	switch {
	case major == 8:
		return "sm_80"
	case major == 9 && minor == 0:
		return "sm_90"
	}
	return ""
}

// kernelNames lists the kernels. Each is in a file of its name.
func kernelNames() (names []string) {
	files, _ := kernelFiles.ReadDir("ptx") // it is there, or this would not have compiled
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".ptx"))
	}
	return names
}

// imageOf returns what the driver loads a kernel from: PTX, or one of the cubins.
func imageOf(code, name string) (string, error) {
	file := "cubin/" + code + "/" + name + ".cubin.gz"
	if code == codePTX {
		file = "ptx/" + name + ".ptx"
	}
	b, err := kernelFiles.ReadFile(file)
	if err == nil && code != codePTX {
		b, err = unzipped(b)
	}
	if err != nil {
		return "", fmt.Errorf("kernel %s: %w", name, err)
	}
	return string(b), nil
}

func unzipped(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
