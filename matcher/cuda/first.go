//go:build cuda || emu

package cuda

import (
	"context"

	"motifd/dyngraph"
	"motifd/matcher"
)

// firstCount counts a whole graph on both sides at once, and returns the first answer. Nothing is known of a pattern
// before its first search, and the sides differ a hundredfold: the CPU multiplies what a tree has below a vertex, the
// GPU searches it; dense patterns are the other way round. The other side is stopped, and has ended on return: a
// device takes a part of the time to stop that it has searched.
//
// There is no budget: two searches would spend it twice.
func (b *Backend) firstCount(ctx context.Context, which dyngraph.Which, p *matcher.Plan) (matcher.Result, error) {
	onGPU, stopGPU := context.WithCancel(ctx)
	defer stopGPU()
	onCPU, stopCPU := context.WithCancel(ctx)
	defer stopCPU()
	var cpu matcher.Result
	var cpuErr error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if b.beforeCPU != nil {
			b.beforeCPU(onCPU)
		}
		if cpu, cpuErr = b.cpu.Enumerate(onCPU, which, p, matcher.WantCount, 0, nil, nil); cpuErr == nil {
			stopGPU()
		}
	}()
	b.stoppable(true)
	defer b.stoppable(false)
	gpu, wide, err := b.total(onGPU, which, p, matcher.WantCount, nil)
	if err == nil && !wide {
		stopCPU()
		<-ended
		return sumOfWork(gpu, cpu), nil
	}
	<-ended
	b.failed(err) // a device that failed is given up; the CPU's answer does not depend on it
	return sumOfWork(cpu, gpu), cpuErr
}

// sumOfWork returns the answer of one side, with what both have done for it.
func sumOfWork(answer, other matcher.Result) matcher.Result {
	answer.Steps += other.Steps
	answer.SearchNS += other.SearchNS
	return answer
}
