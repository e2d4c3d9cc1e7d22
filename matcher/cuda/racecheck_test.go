//go:build cuda || emu

package cuda_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"motifd/kernels"
)

// RaceLog names the environment variable with the files, between colons, that compute-sanitizer's racecheck wrote of
// runs of these tests, as `--racecheck-report hazard` without an end (--print-limit). SharedBase names that with the
// shared memory, in bytes, which the system has before ours: 1,024 from compute capability 8.0 on.
const (
	RaceLog    = "MOTIFD_RACECHECK_LOG"
	SharedBase = "MOTIFD_SHARED_BASE"
)

// stateFields are the fields of State (state.cuh) in order, with what warps other than its own may do to them.
// Racecheck knows barriers and no locks, so that it takes for races what the warps of a block do to a State under its
// lock: a thief reads it all, and takes its share by writing the end and the mask of a frame. Anything else is a race,
// between lanes of one warp whatever they do. That thieves do hold the lock, and that what they read was posted, is
// what ThreadSanitizer checks in the emulator.
var stateFields = []struct {
	name         string
	bytes        int
	reads, write bool
}{
	{"lock", 4, false, false}, // by atomic operations
	{"live", 4, true, false}, {"program", 4, true, false}, {"net", 4, true, false}, {"request", 4, true, false},
	{"floor", 4, true, false}, {"depth", 4, true, false}, {"group", 4, true, false},
	{"skip", 4, false, false}, // a warp sets its own, also when it takes what another has
	{"m", 4 * kernels.MaxVertices, true, false},
	{"edge", 4 * kernels.MaxBacks, true, false},
	{"range", 8 * kernels.MaxBacks, true, false},
	{"frame", 16 * kernels.MaxSteps, true, true},
}

// hazard is a pair of accesses to a byte of shared memory that no barrier orders.
type hazard struct {
	at       int // from the beginning of the first State
	accesses []access
}

type access struct {
	write bool
	warp  int
	where string
}

func (a access) kind() string {
	if a.write {
		return "writes"
	}
	return "reads"
}

// judge names the field of State and tells why the hazard is none of stealing's, or "".
func (h *hazard) judge() (field, why string) {
	for _, a := range h.accesses {
		if !slices.Contains(kernels.Searches[:], strings.Split(a.where, "+")[0]) {
			return "", "it is of a kernel in which nothing is stolen"
		}
	}
	owner, at := h.at/kernels.StateSize, h.at%kernels.StateSize
	if h.at < 0 || owner >= kernels.Fill(kernels.Info{}, false).BlockWarps {
		return "", "it lies outside"
	}
	for _, f := range stateFields {
		if at >= f.bytes {
			at -= f.bytes
			continue
		}
		field = f.name
		mayWrite := f.write
		if f.name == "frame" {
			word := at % 16 / 4
			field = []string{"next", "end", "mask", "best"}[word]
			mayWrite = word == 1 || word == 2
		}
		if h.accesses[0].warp == h.accesses[1].warp {
			return field, "both accesses are of one warp"
		}
		for _, a := range h.accesses {
			switch {
			case a.warp == owner:
			case a.write && !mayWrite:
				return field, "another warp writes it"
			case !a.write && !f.reads:
				return field, "another warp reads it"
			}
		}
		return field, ""
	}
	return "", "it lies outside"
}

var (
	hazardLine  = regexp.MustCompile(`Potential (RAW|WAR|WAW) hazard detected at __shared__ 0x([0-9a-f]+) `)
	accessLine  = regexp.MustCompile(`^=+ +(Read|Write) Thread \((\d+),0,0\) at (\S+)`)
	summaryLine = regexp.MustCompile(`RACECHECK SUMMARY: (\d+) hazards? displayed`)
)

// judgeRaces reads a log of racecheck's. It returns how many hazards there are of each kind, and of those that are no
// stealing's the bytes, by the instructions; an error if the log is not whole.
func judgeRaces(log io.Reader, base int) (kinds map[string]int, races map[string][]int, err error) {
	kinds, races = map[string]int{}, map[string][]int{}
	read, groups, said := 0, 0, -1 // racecheck may also list its hazards in groups, and counts these too
	var h hazard
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		line := lines.Text()
		if m := hazardLine.FindStringSubmatch(line); m != nil {
			at, err := strconv.ParseInt(m[2], 16, 64)
			if err != nil {
				return nil, nil, err
			}
			h = hazard{at: int(at) - base}
			read++
		} else if m := accessLine.FindStringSubmatch(line); m != nil {
			thread, err := strconv.Atoi(m[2])
			if err != nil {
				return nil, nil, err
			}
			h.accesses = append(h.accesses, access{m[1] == "Write", thread / 32, m[3]})
			if len(h.accesses) != 2 {
				continue
			}
			field, why := h.judge()
			if why == "" {
				kinds[fmt.Sprintf("%s, then %s, of %s", describeAccess(h, 0), describeAccess(h, 1), field)]++
			} else {
				first, second := h.accesses[0], h.accesses[1]
				race := fmt.Sprintf("%s: %s at %s, then %s at %s (%s)", why, first.kind(), first.where, second.kind(),
					second.where, field)
				races[race] = append(races[race], h.at)
			}
		} else if m := summaryLine.FindStringSubmatch(line); m != nil {
			if said, err = strconv.Atoi(m[1]); err != nil {
				return nil, nil, err
			}
		} else if strings.Contains(line, "Race reported between") {
			groups++
		} else if strings.HasPrefix(line, "=========") && strings.Contains(line, "Internal") {
			return nil, nil, fmt.Errorf("racecheck failed: %s", line)
		}
	}
	judged := 0
	for _, n := range kinds {
		judged += n
	}
	for _, at := range races {
		judged += len(at)
	}
	if err := lines.Err(); err != nil || read+groups != said || read != judged {
		return nil, nil, fmt.Errorf("%d hazards, of which %d can be read, and racecheck speaks of %d: %w", read, judged,
			said, err)
	}
	return kinds, races, nil
}

func describeAccess(h hazard, i int) string {
	a := h.accesses[i]
	who := "a thief"
	if a.warp == h.at/kernels.StateSize {
		who = "its warp"
	}
	return who + " " + a.kind()
}

// TestRaces tells hazards of stealing from races in made up logs, and in those that RaceLog names.
func TestRaces(t *testing.T) {
	size := 0
	for _, f := range stateFields {
		size += f.bytes
	}
	if size != kernels.StateSize {
		t.Fatalf("the fields of a State take %d bytes, and it %d", size, kernels.StateSize)
	}
	frame := size - 16*kernels.MaxSteps
	for _, c := range []struct {
		at    int
		first string
		warps [2]int
		races int
		where string
	}{
		{2*size + 4, "Write Read", [2]int{2, 1}, 0, "wbm"},             // a thief looks whether there is anything
		{2*size + 4, "Write Read", [2]int{2, 2}, 1, "wbm"},             // lanes that do not meet
		{2*size + 4, "Write Read", [2]int{1, 2}, 1, "wbm"},             // another warp says so
		{size + 0, "Read Write", [2]int{0, 1}, 1, "wbm"},               // the lock, without an atomic operation
		{size + frame + 16 + 4, "Write Write", [2]int{0, 1}, 0, "wbm"}, // half of a frame is gone
		{size + frame + 16 + 8, "Write Read", [2]int{0, 2}, 0, "wbm"},  // seen by the next thief
		{size + frame + 16 + 0, "Write Read", [2]int{0, 1}, 1, "wbm"},  // only its warp says where to go on
		{frame - 8, "Read Write", [2]int{1, 0}, 0, "wbm"},              // a range
		{8*size + 4, "Read Write", [2]int{1, 8}, 1, "wbm"},             // of a warp that a block has not
		{-4, "Read Write", [2]int{1, 0}, 1, "wbm"},
		{2*size + 4, "Write Read", [2]int{2, 1}, 1, "wbmflat"}, // which has other things there
	} {
		kinds := strings.Fields(c.first)
		log := fmt.Sprintf("========= Error: Potential RAW hazard detected at __shared__ 0x%x in block (1,0,0) :\n"+
			"=========     %s Thread (%d,0,0) at %s+0x10\n=========     %s Thread (%d,0,0) at %s+0x20\n=========    "+
			" Current Value : 0\n",
			c.at+1024, kinds[0], 32*c.warps[0], c.where, kinds[1], 32*c.warps[1]+5, c.where)
		if _, _, err := judgeRaces(strings.NewReader(log), 1024); err == nil {
			t.Error("half a log is a whole one")
		}
		_, races, err := judgeRaces(strings.NewReader(
			log+"========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n"), 1024)
		if want := c.races; err != nil || len(races) != want {
			t.Errorf("%s of byte %d by warps %v: %v, %v", c.first, c.at, c.warps, races, err)
		}
	}
	if os.Getenv(RaceLog) == "" {
		return
	}
	base, err := strconv.Atoi(os.Getenv(SharedBase))
	if err != nil {
		t.Fatalf("%s: %v", SharedBase, err)
	}
	kinds, races := map[string]int{}, map[string][]int{}
	for _, path := range strings.Split(os.Getenv(RaceLog), ":") {
		log, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		of, found, err := judgeRaces(log, base)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for kind, n := range of {
			kinds[kind] += n
		}
		for race, at := range found {
			races[race] = append(races[race], at...)
		}
	}
	for race, at := range races {
		t.Errorf("%s: %d times, from byte %d on", race, len(at), slices.Min(at))
	}
	if len(kinds) == 0 {
		t.Error("nothing was stolen")
	}
	var lines []string
	for kind, n := range kinds {
		lines = append(lines, fmt.Sprintf("%s: %d", kind, n))
	}
	slices.Sort(lines)
	t.Logf("%d races; hazards under locks:\n%s", len(races), strings.Join(lines, "\n"))
}
