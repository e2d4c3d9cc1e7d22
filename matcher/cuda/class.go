//go:build cuda || emu

package cuda

import (
	"slices"

	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/internal/candidates"
)

// representatives returns the anchored orders of a plan to search. With apart these are all orders. Without it, they
// are one order for each class of orders that automorphisms of the pattern map to one another, with the images of its
// matches, which are the matches of the other orders of the class (DESIGN A6).
func representatives(p *matcher.Plan, apart bool) (all []matcher.Member) {
	if apart {
		for i := range p.Anchored {
			all = append(all, matcher.Member{Anchor: i})
		}
		return all
	}
	for i := range p.Classes {
		for _, m := range p.Classes[i].Members {
			all = append(all, matcher.Member{Anchor: m.Anchor, Images: m.Images})
		}
	}
	return all
}

// orders makes programs of anchored orders, for rows, for existence or for a count by order. It returns the program of
// each order of the plan; kernels.None if the program of another order also finds its matches.
func (t *table) orders(p *matcher.Plan, of []matcher.Member, f *candidates.Filter, mode uint32) []uint32 {
	programs := slices.Repeat([]uint32{kernels.None}, len(p.Anchored))
	for i := range of {
		program := t.program(p, &p.Anchored[of[i].Anchor], f, mode, byOrder)
		t.image(&program, of[i].Images)
		programs[of[i].Anchor] = t.add(program)
	}
	return programs
}

// image sets the images of a program: each is a permutation of the columns of its rows.
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
