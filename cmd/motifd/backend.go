package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"motifd/cmd/motifd/internal/command"
	"motifd/cmd/motifd/internal/metrics"
	"motifd/cmd/motifd/internal/timeline"
	"motifd/config"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/groups"
	"motifd/matcher/negation"
	"motifd/matcher/paths"
	"motifd/matcher/reference"
	"motifd/stream/tempfile"
)

// backends are the names of what this build can search with; auto chooses among them.
func backends() []string {
	if gpuBuild {
		return []string{"cpu", "cuda", "reference"}
	}
	return []string{"cpu", "reference"}
}

// backendFlags choose what searches.
type backendFlags struct {
	Backend      string         `help:"${backend_help} (default: ${default})." default:"auto" placeholder:"NAME"`
	Device       config.Devices `help:"${device_help}" placeholder:"N"`
	DeviceMemory config.Size    `help:"${device_memory_help}" placeholder:"SIZE"`
	Threads      int            `help:"Search threads (default: one per processor)." placeholder:"N"`

	profile *cpu.Profile // takes note of searches; may be nil
}

// check refuses what no build or this one has not.
func (f *backendFlags) check() error {
	switch {
	case f.Threads < 0 || f.Threads > 1024:
		return command.Refuse(fmt.Errorf("--threads: %d is out of range; it is 1 to 1024", f.Threads))
	case f.Device.Check() != nil:
		return command.Refuse(fmt.Errorf("--device: %w", f.Device.Check()))
	case f.Backend == "cuda" && !gpuBuild:
		return command.Refuse(errors.New("--backend: " + config.NoGPU))
	case f.Backend != "auto" && f.Backend != "cuda" && !slices.Contains(backends(), f.Backend):
		return command.Refuse(fmt.Errorf("--backend: there is no backend %q; there are auto, %s", f.Backend,
			strings.Join(backends(), ", ")))
	}
	return nil
}

// make returns the backend; lazy: a CPU backend that makes nothing for batches to come (cpu.Options.Lazy). What it
// does is noted in a timeline, which may be nil.
func (f *backendFlags) make(log zerolog.Logger, trace *timeline.Timeline, lazy bool) (*timedBackend, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	b, err := newBackend(backendOptions{
		name: f.Backend, devices: f.Device, deviceMemory: int64(f.DeviceMemory),
		cpu: cpu.Options{Threads: f.Threads, TempFiles: tempfile.In(""), Lazy: lazy, Profile: f.profile},
		log: log, placement: config.Default().Engine.Placement, trace: trace,
	})
	if err != nil {
		return nil, command.Refuse(fmt.Errorf("--backend: %w", err))
	}
	if trace != nil {
		b.phase = trace.Phase
	}
	return b, nil
}

// backendOptions say what searches.
type backendOptions struct {
	name    string // auto, or one of backends
	devices config.Devices
	// deviceMemory bounds what is taken of the memory of each GPU, in bytes; 0 is no bound.
	deviceMemory int64
	cpu          cpu.Options
	log          zerolog.Logger
	placement    config.Placement   // of auto
	metrics      *metrics.Metrics   // where searches are counted by side; may be nil
	trace        *timeline.Timeline // may be nil
	// lost is called when a GPU is given up that failed, with what searches from then on; may be nil.
	lost func(backend string, gpus *gpus)
}

// newBackend returns a backend that the configuration or check let pass. A GPU that cannot be opened is an error for
// cuda; auto logs why and takes the CPU.
func newBackend(o backendOptions) (*timedBackend, error) {
	o.cpu.Clock = clock()
	o.cpu.EnsureDefaults()
	switch o.name {
	case "cuda":
		return newGPU(o)
	case "auto":
		if !gpuBuild {
			break
		}
		b, err := newGPU(o)
		if err == nil {
			return b, nil
		}
		o.log.Warn().Err(err).Msg("no GPU is used; the CPU searches")
	case "reference":
		return &timedBackend{Backend: reference.New(), threads: 1}, nil
	}
	return &timedBackend{Backend: o.wrap(cpu.New(o.cpu)), threads: o.cpu.Threads}, nil
}

// wrap returns a backend that searches what the inner one has no search for: negations, paths and groups.
func (o *backendOptions) wrap(inner matcher.Backend) matcher.Backend {
	denying := negation.New(inner, negation.Options{TempFiles: o.cpu.TempFiles, GroupMemory: o.cpu.GroupMemory,
		Clock: o.cpu.Clock})
	return groups.New(paths.New(denying), groups.Options{Clock: o.cpu.Clock})
}

// clock gives backends the time, which they do not read themselves.
func clock() func() int64 {
	start := time.Now()
	return func() int64 { return int64(time.Since(start)) }
}
