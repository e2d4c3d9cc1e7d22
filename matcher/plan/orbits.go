package plan

import (
	"slices"

	"motifd/matcher"
)

// Image is an anchored order that need not be searched: its matches are those of another one, seen through an automorphism of
// the pattern.
type Image struct {
	Order int // index into Plan.Anchored
	// Vertices and Edges map the pattern by an automorphism that takes the representative's anchor, with its
	// orientation, to the order's own.
	Vertices, Edges []int
}

// Coalesce divides the anchored orders into the classes of their oriented edges under the automorphisms of the pattern
// (GAMMA section V-B with no vertex removed; DESIGN A6). It returns, for each order, the images of which it is the
// representative; own tells which are representatives. A match f of a representative stands for exactly one match of each image,
// f after the inverse of the automorphism: the data edges are the same, and so is what A2 prunes. That holds
// for embeddings only, not where symmetry constraints single out one match of an orbit.
func Coalesce(p *matcher.Plan) (images [][]Image, own []bool) {
	images, own = make([][]Image, len(p.Anchored)), make([]bool, len(p.Anchored))
	a := newAutomorphisms(p.Query)
	for i := range p.Anchored {
		own[i] = true
		for r := range i {
			if own[r] && a.takes(&p.Anchored[r], &p.Anchored[i]) {
				own[i] = false
				images[r] = append(images[r], Image{i, slices.Clone(a.image), a.edgeImages(p.Anchored[r].Edge, p.Anchored[i].Edge)})
				break
			}
		}
	}
	return images, own
}

// takes reports whether an automorphism takes the oriented anchor of one order to that of another; it is in a.image then.
func (a *automorphisms) takes(from, to *matcher.Order) bool {
	x, y := from.Edge, to.Edge
	if a.q.Edges[x].Label != a.q.Edges[y].Label || a.q.Edges[x].Either != a.q.Edges[y].Either {
		return false
	}
	a.must = make([]int, len(a.q.Vertices))
	for v := range a.must {
		a.must[v] = -1
	}
	a.must[from.Steps[0].Vertex], a.must[from.Steps[1].Vertex] = to.Steps[0].Vertex, to.Steps[1].Vertex
	a.taken = 0
	found := a.extend(0)
	a.must = nil
	return found
}

// edgeImages maps the pattern's edges as a.image maps its vertices, x to y, and parallel edges of a kind in their order.
func (a *automorphisms) edgeImages(x, y int) []int {
	image := make([]int, len(a.q.Edges))
	taken := make([]bool, len(image))
	image[x], taken[y] = y, true
	for i := range image {
		if i == x {
			continue
		}
		k := a.kind(i)
		k.from, k.to = a.image[k.from], a.image[k.to]
		if k.either && k.from > k.to {
			k.from, k.to = k.to, k.from
		}
		for j := range image {
			if !taken[j] && a.kind(j) == k {
				image[i], taken[j] = j, true
				break
			}
		}
	}
	return image
}
