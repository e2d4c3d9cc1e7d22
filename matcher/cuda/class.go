//go:build cuda || emu

package cuda

import (
	"slices"

	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/candidates"
)

// maxMembers bounds the members of a class on the device: a lane tests each.
const maxMembers = 32

// classesOf returns the classes of a plan's orders as far as the options want them searched together.
func classesOf(p *matcher.Plan, opt Options) (classes []matcher.Class) {
	one := func(anchor int, images []matcher.Image) {
		classes = append(classes, matcher.Class{Members: []matcher.Member{{Anchor: anchor, Images: images}}})
	}
	if opt.Apart {
		for i := range p.Anchored {
			one(i, nil)
		}
		return classes
	}
	if opt.Parts {
		return p.Classes
	}
	for _, c := range p.Classes {
		for _, m := range c.Members {
			one(m.Anchor, m.Images)
		}
	}
	return classes
}

// classes makes the programs of classes of orders (DESIGN A6) for a mode other than a ranked count. It returns them by anchored order;
// kernels.None where another's finds its matches, too.
func (t *table) classes(p *matcher.Plan, classes []matcher.Class, f *candidates.Filter, mode uint32) []uint32 {
	of := slices.Repeat([]uint32{kernels.None}, len(p.Anchored))
	for i := range classes {
		for members := range slices.Chunk(classes[i].Members, maxMembers) {
			if at, ok := t.class(p, members, classes[i].Shared, f, mode); ok {
				of[members[0].Anchor] = at
				continue
			}
			for k := range members {
				m := &members[k]
				program := t.program(p, &p.Anchored[m.Anchor], f, mode, byOrder, 0)
				t.image(&program, m.Images)
				of[m.Anchor] = t.add(program)
			}
		}
	}
	return of
}

// class makes the program of several members, and those of the members after it. It fails when there is one member only, or when the filters
// that the members have for a step are bits of more than two words: the class's own is any of them.
func (t *table) class(p *matcher.Plan, members []matcher.Member, shared int, f *candidates.Filter, mode uint32) (at uint32, ok bool) {
	if len(members) == 1 {
		return 0, false
	}
	var programs []kernels.Program
	for i := range members {
		k := t.program(p, &members[i].Order, f, mode, byOrder, shared)
		programs = append(programs, k)
	}
	class := programs[0]
	class.Steps = class.Fork + 1
	class.Leaves, class.Members, class.Flat = class.Steps, uint32(len(members)), 0
	for i := range class.Fork {
		for k := range programs {
			s, to := &programs[k].Step[i], &class.Step[i]
			switch {
			case s.Word == to.Word:
				to.Mask |= s.Mask
			case to.Also == 0 || s.Word == to.Other:
				to.Other = s.Word
				to.Also |= s.Mask
			default:
				return 0, false
			}
		}
	}
	at = t.add(class)
	for i := range programs {
		programs[i].Fork = kernels.None
		t.image(&programs[i], members[i].Images)
		t.add(programs[i])
	}
	return at, true
}

// image gives a program images: rows with the columns of its own exchanged.
func (t *table) image(k *kernels.Program, images []matcher.Image) {
	k.Images, k.Image = uint32(len(images)), uint32(len(t.images))
	for _, image := range images {
		from := make([]uint32, k.Vertices+k.Edges)
		for v, w := range image.Vertices {
			from[w] = uint32(v)
		}
		for e, f := range image.Edges {
			from[k.Vertices+uint32(f)] = k.Vertices + uint32(e)
		}
		t.images = append(t.images, from...)
	}
}
