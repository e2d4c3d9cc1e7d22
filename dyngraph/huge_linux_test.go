package dyngraph

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// wantsHugePages tells whether the system was asked to lay out what is at an address in huge pages.
func wantsHugePages(t *testing.T, at unsafe.Pointer) bool {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skipf("only smaps tells what the system was asked for: %v", err)
	}
	defer f.Close()
	here := false
	for s := bufio.NewScanner(f); s.Scan(); {
		var from, to uintptr
		if n, _ := fmt.Sscanf(s.Text(), "%x-%x ", &from, &to); n == 2 {
			here = from <= uintptr(at) && uintptr(at) < to
		}
		if flags, ok := strings.CutPrefix(s.Text(), "VmFlags:"); ok && here {
			return strings.Contains(flags+" ", " hg ")
		}
	}
	t.Skip("this system's smaps has no flags, which tell what it was asked for")
	return false
}

// TestHugePages: a column that is made large, by growth or ahead of it, is asked for in huge pages; what a column
// holds stays as it is.
func TestHugePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skipf("this system has no huge pages to ask for: %v", err)
	}
	const n = 2 * hugeLeast
	within := func(column []byte) bool { return wantsHugePages(t, unsafe.Pointer(&column[n/2])) }
	var s spare[byte]
	if !within(s.take(n, n)) {
		t.Error("a column that was made is not in huge pages")
	}
	s.prepare(beside, n)
	if !within(s.take(n, n)) {
		t.Error("a column that was made ahead is not in huge pages")
	}
	column := s.grown(beside, nil, 1000)
	for i := range column {
		column[i] = byte(i)
	}
	column = s.grown(beside, column, n)
	if !within(column) {
		t.Error("a column that grew is not in huge pages")
	}
	for i, x := range column {
		if i < 1000 && x != byte(i) || i >= 1000 && x != 0 {
			t.Fatalf("element %d is %d", i, x)
		}
	}
	var p pma
	p.allot(0, n/4/leafSize)
	if !wantsHugePages(t, unsafe.Pointer(&p.nbr[len(p.nbr)/2])) ||
		!wantsHugePages(t, unsafe.Pointer(&p.ent[len(p.ent)/2])) {
		t.Error("the array is not in huge pages")
	}
}
