package dyngraph

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugeLeast is the bytes of a column that is worth huge pages.
const hugeLeast = 4 << 20

// inHugePages has the system lay out a large column, which was just made, in huge pages: a batch reads random places,
// and the processor's TLB has some thousands of pages, fewer than a column has small ones. It is advice: a system
// without huge pages, or with none left, gives small ones. A column is the same in either, so the result of the call is
// ignored.
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
