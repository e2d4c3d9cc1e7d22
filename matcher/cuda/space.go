//go:build cuda || emu

package cuda

import (
	"errors"
	"slices"

	"motifd/kernels"
)

// narrowFrom is the default of Options.Narrow. A semi-join looks at a vertex in the time of about two steps.
const narrowFrom = 4

// spaced returns the program that takes its candidates from the space of another one, where a position has a bit.
func spaced(k kernels.Program) kernels.Program {
	for i := range k.Step[:k.Steps] {
		if s := &k.Step[i]; s.Vertex != kernels.None {
			s.Word, s.Mask = 0, 1<<s.Position
		}
	}
	return k
}

// readsVertices reports whether a program reads values of vertices, which are behind their candidate bits. A space has
// none.
func (w *where) readsVertices(k *kernels.Program) bool {
	return slices.ContainsFunc(k.Check[:], func(s kernels.Slice) bool {
		return slices.ContainsFunc(w.instrs[s.First:s.First+s.Number], func(x kernels.Instr) bool {
			return x.Op == kernels.OpVertexValue
		})
	})
}

// backs returns the number of back edges of a program.
func backs(k *kernels.Program) int {
	last := &k.Step[k.Steps-1]
	return int(last.Back + last.Backs)
}

// spaceCost returns the number of steps that take as long as making the space of a program.
func (r *runner) spaceCost(program uint32, vertices int) float64 {
	return r.opt.Narrow * float64(backs(&r.table.programs[program])) * float64(vertices)
}

// space tells whether the searches of a producer take their candidates from a space (DESIGN A27), and has what narrow
// decides that by.
type space struct {
	from, to uint32 // program that is searched, and the one that takes its candidates from the space; equal: none does
	made     bool   // to is searched
	tasks    int    // done so far
	rows     uint64 // found by them
	memory   []kernels.Task
}

// tasksOf returns the next tasks, and the groups of their rows, as fill does.
func (p *producer) tasksOf(from, to uint32, size int) ([]kernels.Task, []rowGroup) {
	tasks, groups := p.fill(p.task, from, to, size)
	if s := &p.space; s.made {
		s.memory = append(s.memory[:0], tasks...) // others read them, too
		for i := range s.memory {
			s.memory[i].Program = s.to
		}
		tasks = s.memory
	}
	return tasks, groups
}

// narrow makes the space if the steps that are left, without those that find a row, are expected to cost more. The
// anchors that are left are those of the producer's stretch, dealt, and those that are not dealt. If rows have a cap,
// the search may end long before them, so no more steps are expected than were made.
func (p *producer) narrow(dealt uint32) error {
	s := &p.space
	if s.made || s.to == s.from || s.tasks == 0 {
		return nil
	}
	steps := p.j.meter.saw[0]
	if steps <= s.rows {
		return nil
	}
	left := p.tasksIn(dealt + p.before - p.undealt)
	if p.slowStart {
		left = min(left, float64(s.tasks))
	}
	if float64(steps-s.rows)/float64(s.tasks)*left < p.run.spaceCost(s.to, p.j.vertices) {
		return nil
	}
	var short *kernels.MemoryError
	if _, err := p.run.space.Claim(8 * p.j.vertices); errors.As(err, &short) { // the search does without
		s.to = s.from
		return nil
	} else if err != nil {
		return err
	}
	g, k := p.j.graph, &p.run.table.programs[s.to]
	g.Where.Labels = p.run.labels.Ptr
	err := kernels.RunSpace(p.run.stream.q, kernels.Space{Graph: g,
		Program:  p.run.program.Ptr + kernels.Ptr(int(s.from)*len(kernels.BytesOf(k))),
		Space:    p.run.space.Ptr,
		Vertices: uint32(p.j.vertices)}, backs(k))
	if err != nil {
		return err
	}
	p.run.spaces++
	p.j.graph.Bits, p.j.graph.Words, s.made = p.run.space.Ptr, 1, true
	return nil
}

// widen frees the space, since the next search makes its own, and updates may need the memory.
func (p *producer) widen() error {
	if !p.space.made {
		return nil
	}
	p.run.stream.wait()
	return p.run.space.Free()
}
