//go:build cuda

package kernels

import _ "embed" // the kernels as clang made them: ptx/generate.sh

//go:embed ptx/wbm.ptx
var wbmPTX string

//go:embed ptx/patch.ptx
var patchPTX string

//go:embed ptx/spans.ptx
var spansPTX string
