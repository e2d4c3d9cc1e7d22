//go:build cuda

package kernels_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"motifd/kernels"
)

// capability is a stand-in for what a driver says of a device's compute capability.
func capability(major, minor int) string {
	return fmt.Sprintf("int cuDeviceGetAttribute(int *a, int which, int d) { "+
		"*a = which == 75 ? %d : which == 76 ? %d : 5; return 0; }\n", major, minor)
}

// loads is a stand-in for a driver that loads PTX and, of cubins, those of one architecture. It reads cubins to their
// ends, where the table of sections is, and prints how many modules it unloads.
const loads = `
#include <elf.h>
#include <stdio.h>
#include <string.h>
static int cubin(const char *image, unsigned architecture) {
	const Elf64_Ehdr *h = (const void *)image;
	const Elf64_Shdr *sections = (const void *)(image + h->e_shoff);
	const char *names = image + sections[h->e_shstrndx].sh_offset;
	if (strcmp(names + sections[h->e_shstrndx].sh_name, ".shstrtab"))
		return 200;
	return (h->e_flags & 0xff) == architecture ? CUBIN : 209;
}
int cuModuleLoadData(void **m, const void *image) {
	if (memcmp(image, ELFMAG, SELFMAG) == 0)
		return cubin(image, ARCHITECTURE);
	return strncmp(image, ".version ", 9) ? 200 : 0;
}
int cuModuleUnload(void *m) { printf("unloaded; "); fflush(stdout); return 0; }
`

// TestCodeFitsTheDevice holds that a device gets the cubins of its compute capability, or else PTX, and that PTX is
// loaded where the driver refuses a cubin, or is told to.
func TestCodeFitsTheDevice(t *testing.T) {
	const end = "memory; the GPU has no room for another 3 MiB: OutOfMemory"
	files, err := filepath.Glob("ptx/*.ptx")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	kernel := func(i int) string { return strings.TrimSuffix(filepath.Base(files[i]), ".ptx") }
	named := strings.NewReplacer("FIRST", kernel(0), "FOURTH", kernel(3))
	for _, c := range []struct {
		name         string
		major, minor int
		loads        string // the architecture of the cubins that the driver loads
		cubin        string // the status of such a load; empty: 0
		function     string // the status of each look for a function; empty: 0
		force        string
		want         string // with end behind it, unless it fails; FIRST and FOURTH are kernels, as they are loaded
	}{
		{name: "7.5", major: 7, minor: 5, want: "loaded ptx; refused: <nil>; "},
		{name: "8.0", major: 8, minor: 0, loads: "80", want: "loaded sm_80; refused: <nil>; "},
		{name: "8.6", major: 8, minor: 6, loads: "80", want: "loaded sm_80; refused: <nil>; "},
		{name: "8.9", major: 8, minor: 9, loads: "80", want: "loaded sm_80; refused: <nil>; "},
		{name: "9.0", major: 9, minor: 0, loads: "90", want: "loaded sm_90; refused: <nil>; "},
		{name: "9.1", major: 9, minor: 1, loads: "90", want: "loaded ptx; refused: <nil>; "},
		{name: "10.0", major: 10, minor: 0, want: "loaded ptx; refused: <nil>; "},
		{name: "forced", major: 9, minor: 0, loads: "90", force: "1", want: "loaded ptx; refused: <nil>; "},
		{name: "not forced", major: 9, minor: 0, loads: "90", force: "0", want: "loaded sm_90; refused: <nil>; "},
		{name: "refused", major: 8, minor: 7, want: "loaded ptx; refused: loading kernel FIRST: NoBinaryForGpu; "},
		{name: "no memory", major: 9, minor: 0, loads: "90", cubin: "2",
			want: "loaded ptx; refused: loading kernel FIRST: OutOfMemory; "},
		{name: "refused after some", major: 9, minor: 0, loads: "90", cubin: "n++ < 3 ? 0 : 218",
			want: "unloaded; unloaded; unloaded; loaded ptx; refused: loading kernel FOURTH: InvalidPtx; "},
		{name: "without its function", major: 9, minor: 0, loads: "90", function: "n++ == 0 ? 500 : 0",
			want: "unloaded; loaded ptx; refused: loading kernel FIRST: NotFound; "},
		{name: "neither is loaded", major: 8, minor: 0, loads: "80", function: "500",
			want: "unloaded; opening GPU 0: loading kernel FIRST: NotFound"},
	} {
		t.Run(c.name, func(t *testing.T) {
			images := strings.NewReplacer("CUBIN", cmp.Or(c.cubin, "0"), "ARCHITECTURE", cmp.Or(c.loads, "0"))
			driver := found + device + capability(c.major, c.minor) + with(context, "0") + described +
				"static int n;\n" + images.Replace(loads) +
				with(function, cmp.Or(c.function, "0")) + launched + with(memory, "2")
			out, _, err := open(t, driver, opens+"=0", tells+"=1", kernels.ForcePTX+"="+c.force)
			if want := named.Replace(c.want); err != nil || strings.TrimSuffix(out, end) != want {
				t.Errorf("%v\n got %s\nwant %s", err, out, want)
			}
		})
	}
}
