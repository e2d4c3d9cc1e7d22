//go:build emu && !cuda

package kernels_test

import (
	"testing"

	"motifd/matcher/cuda/cudatest"
)

func TestMain(m *testing.M) { cudatest.Main(m) }
