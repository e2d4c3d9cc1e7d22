package monitor

import (
	"time"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/groups"
	"motifd/matcher/negation"
	"motifd/matcher/paths"
	"motifd/matcher/plan"
	"motifd/stream/codec"
	"motifd/stream/tempfile"
)

// NewEngine returns an engine for a caller that numbers, logs and publishes batches itself, as the daemon does. Options
// that are nil get their defaults: an empty directed graph, the CPU backend with one thread per processor, package
// plan's planner, and samples by match id.
func NewEngine(opt matcher.EngineOptions) (*matcher.Engine, error) {
	if opt.Graph == nil {
		opt.Graph = newGraph(true, false, nil)
	}
	if opt.Backend == nil {
		opt.Backend = newCPU(0, "")
	}
	if !opt.Backend.Capabilities().Negations {
		opt.Backend = paths.New(negation.New(opt.Backend,
			negation.Options{TempFiles: tempfile.In(""), Clock: clock()}))
	}
	if !opt.Backend.Capabilities().Groups {
		opt.Backend = groups.New(opt.Backend, groups.Options{Clock: clock()})
	}
	if opt.Planner == nil {
		opt.Planner = plan.New()
	}
	if opt.Sampled == nil {
		opt.Sampled = codec.Sampled
	}
	if opt.OnceKey == nil {
		opt.OnceKey = codec.OnceKey
	}
	return matcher.NewEngine(opt)
}

func newGraph(directed, edgeIDs bool, schema *property.Schema) *dyngraph.Graph {
	return dyngraph.NewGraph(dyngraph.Options{
		Directed: directed, EdgeIDs: edgeIDs, Schema: schema, Background: func(work func()) { go work() },
	})
}

// newCPU returns a backend with a clock, which limits of time need. Groups of matches that are too large to sort in
// memory are sorted in files of a directory.
func newCPU(threads int, dir string) matcher.Backend {
	files, now := tempfile.In(dir), clock()
	return paths.New(negation.New(cpu.New(cpu.Options{Threads: threads, TempFiles: files, Clock: now}),
		negation.Options{TempFiles: files, Clock: now}))
}

func clock() func() int64 {
	start := time.Now()
	return func() int64 { return int64(time.Since(start)) }
}
