package dyngraph

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugeLeast is the bytes of a column that is worth huge pages.
const hugeLeast = 4 << 20

// inHugePages has the system lay out a large column, which was just made, in huge pages: a batch goes to random
// places, and the processor keeps in mind where some thousands of pages lie, fewer small ones than a column has. It
// is advice: a system that has no huge pages, or none left, gives small ones, and a column is the same in either, so
// whether the advice is taken is not looked at.
func inHugePages[T any](column []T) []T {
	size := uintptr(cap(column)) * unsafe.Sizeof(*new(T))
	if size < hugeLeast {
		return column
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(column))), size)
	whole := uintptr(unix.Getpagesize()) - 1
	from := -uintptr(unsafe.Pointer(&bytes[0])) & whole // to where a page begins
	_ = unix.Madvise(bytes[from:], unix.MADV_HUGEPAGE)
	return column
}
