//go:build cuda || emu

package mirror_test

import (
	"testing"

	"motifd/matcher/cuda/cudatest"
)

func TestMain(m *testing.M) { cudatest.Main(m) }
