//go:build cuda || emu

package kernels

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var rewrite = flag.Bool("rewrite", false, "write layouts.cuh anew")

// A source lists the constants and types that Go shares with one of the CUDA sources. Fields have the names of those of
// Go, but for capitals.
type source struct {
	name   string
	values []value  // constants
	sizes  []value  // bytes of types that Go has no namesake of
	types  []shared // in the order of their definitions
}

type value struct {
	name string
	is   any // an integer
}

type shared struct {
	name string
	as   any // a value of Go's type
}

var sources = []source{
	{name: "device.cuh", values: []value{{"kWarp", warp}}},
	{name: "graph.cuh",
		values: []value{{"kLeaf", LeafSlots}, {"kStaged", Staged}, {"kReplaced", Replaced}, {"kNone", None},
			{"kView", SeeView}, {"kInserted", SeeInserted}, {"kRemoved", SeeDeleted}, {"kEdgeValue", OpEdgeValue},
			{"kVertexValue", OpVertexValue}, {"kNumber", OpNumber}, {"kNull", OpNull}, {"kSum", OpSum},
			{"kProduct", OpProduct}, {"kCompare", OpCompare}, {"kIsNull", OpIsNull}, {"kAnd", OpAnd}, {"kOr", OpOr},
			{"kNear", OpNear}, {"kHolds", OpHolds}},
		sizes: []value{{"Span", SpanSize}},
		types: []shared{{"Interval", Interval{}}, {"Instr", Instr{}}, {"Labels", Labels{}},
			{"Where", Where{}}, {"Graph", Graph{}}}},
	{name: "plan.cuh",
		values: []value{{"kMaxVertices", MaxVertices}, {"kMaxBacks", MaxBacks}, {"kMaxSteps", MaxSteps},
			{"kAnchorAt", AnchorAt}, {"kRows", ModeRows}, {"kCount", ModeCount}, {"kAny", ModeAny},
			{"kByOrder", RuleByOrder}, {"kUnchanged", RuleUnchanged}, {"kAnyEdge", RuleAnyEdge},
			{"kInView", RuleInView}, {"kAnyLabel", AnyLabel}, {"kAmong", Among}, {"kEither", Either}},
		types: []shared{{"Back", Back{}}, {"Step", Step{}}, {"Leaf", Leaf{}}, {"Slice", Slice{}},
			{"Program", Program{}}}},
	{name: "state.cuh",
		sizes: []value{{"State", StateSize}, {"Parked", ParkedSize}},
		types: []shared{{"Task", Task{}}, {"Net", Net{}}, {"Tally", Tally{}}, {"Control", Control{}},
			{"Programs", Programs{}}, {"Memo", Memo{}}, {"TaskQueue", TaskQueue{}}, {"Output", Output{}},
			{"Search", Search{}}}},
	{name: "emit.cuh", values: []value{{"kOutWords", outWords}}},
	{name: "flat.cuh", values: []value{{"kFlatBacks", FlatBacks}}},
	{name: "flatmail.cuh", values: []value{{"kFlatLevels", FlatLevels}},
		sizes: []value{{"Flats", FlatsSize(MaxVertices)}}},
	{name: "wbm.cuh", values: []value{{"kBlockWarps", maxBlockWarps}}},
	{name: "space.cuh", types: []shared{{"Space", Space{}}}},
	{name: "tasks.cu", types: []shared{{"Run", Run{}}, {"Runs", Runs{}}}},
	{name: "fetch.cu", types: []shared{{"Fetch", fetch{}}}},
	{name: "patch.cu", types: []shared{{"Patch", Patch{}}}},
	{name: "sort.cuh",
		values: []value{{"kSortThreads", sortThreads}, {"kSortTile", sortTile}, {"kDigits", digits}},
		types:  []shared{{"Sort", sortParams{}}}},
	{name: "rows.cuh",
		values: []value{{"kRowThreads", rowThreads}, {"kMaxStride", MaxStride}, {"kMaxFields", maxFields}},
		types: []shared{{"RowBits", rowBits{}}, {"RowKeys", rowKeys{}}, {"RowBounds", rowBounds{}},
			{"Destination", Destination{}},
			{"RowGather", rowGather{}}}},
	{name: "gpma.cuh",
		values: []value{{"kThreads", flatThreads}, {"kTile", scanTile}, {"kPiece", piece}, {"kFullness", Fullness},
			{"kOut", Out}, {"kStays", Stays}},
		sizes: []value{{"OpRange", RangeSize}, {"Segment", SegmentSize}, {"Op", OpSize}},
		types: []shared{{"Op", Op{}}, {"NetEdge", Net{}}, {"GpmaControl", UpdateStatus{}}, {"Slots", Slots{}},
			{"Gpma", Update{}}}},
}

// asserts names the macro that asserts what a source shares.
func (s source) asserts() string {
	return "LAYOUT_" + strings.TrimSuffix(strings.TrimSuffix(s.name, "h"), ".cu")
}

// layoutsHead is the beginning of layouts.cuh.
const layoutsHead = `// What the CUDA sources share with Go, as Go has it: each source asserts its own part.
// This file is written by
// go test -tags emu -run Layouts ./kernels -rewrite
#pragma once

#define ASSERT_VALUE(name, value) static_assert(name == value, #name " has another value in Go")
#define ASSERT_SIZE(T, size) static_assert(sizeof(T) == size, #T " has another size in Go")
#define ASSERT_FIELD(T, field, offset, size)                                      \
    static_assert(__builtin_offsetof(T, field) == offset && sizeof(T::field) == size, \
                  #T "." #field " has another offset or size in Go")
`

// layouts returns the content of layouts.cuh.
func layouts() []byte {
	var b bytes.Buffer
	b.WriteString(layoutsHead)
	for _, s := range sources {
		fmt.Fprintf(&b, "\n// %s\n#define %s", s.name, s.asserts())
		assert := func(format string, args ...any) { fmt.Fprintf(&b, " \\\n    ASSERT_"+format+";", args...) }
		for _, v := range s.values {
			assert("VALUE(%s, %d)", v.name, v.is)
		}
		for _, v := range s.sizes {
			assert("SIZE(%s, %d)", v.name, v.is)
		}
		for _, t := range s.types {
			of := reflect.TypeOf(t.as)
			assert("SIZE(%s, %d)", t.name, of.Size())
			for i := range of.NumField() {
				if f := of.Field(i); f.Name != "_" {
					assert("FIELD(%s, %s, %d, %d)", t.name, lower(f.Name), f.Offset, f.Type.Size())
				}
			}
		}
		b.WriteString("\n")
	}
	return b.Bytes()
}

// lower has a name begin with a small letter: all capitals before the next word's become small.
func lower(name string) string {
	r := []rune(name)
	for i := range r {
		if !unicode.IsUpper(r[i]) || i > 0 && i+1 < len(r) && unicode.IsLower(r[i+1]) {
			break
		}
		r[i] = unicode.ToLower(r[i])
	}
	return string(r)
}

// TestLayouts holds that constants and types have in CUDA the values and layouts that they have in Go. The compilers of
// the kernels and of the emulator check what is asserted, here is checked that it is, and that nothing is left out that
// a kernel takes.
func TestLayouts(t *testing.T) {
	want := layouts()
	if *rewrite {
		if err := os.WriteFile("layouts.cuh", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("layouts.cuh"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("layouts.cuh is not what Go has (%v): -rewrite writes it anew", err)
	}
	parameters := map[string]bool{}
	for _, s := range sources {
		text, err := os.ReadFile(s.name)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte("\n"+s.asserts()+"\n")); n != 1 {
			t.Errorf("%s asserts %s %d times", s.name, s.asserts(), n)
		}
		for _, shared := range s.types {
			parameters[shared.name] = true
		}
	}
	kernels, err := filepath.Glob("*.cu")
	if err != nil || len(kernels) == 0 {
		t.Fatal(kernels, err)
	}
	for _, k := range kernels {
		text, err := os.ReadFile(k)
		if err != nil {
			t.Fatal(err)
		}
		takes := regexp.MustCompile(`(?m)^KERNEL\(\w+, (\w+), `).FindSubmatch(text)
		if takes == nil || !parameters[string(takes[1])] {
			t.Errorf("%s: the layout of what its kernel takes is not asserted (%q)", k, takes)
		}
	}
}
