package payments

import "math/rand/v2"

// Typology is a form of money laundering: who pays whom, and in what order. The eight are those of AMLworld (Altman et
// al., 2023).
type Typology string

// The typologies.
const (
	Cycle         Typology = "cycle"          // money returns to its origin
	FanIn         Typology = "fan_in"         // many pay one
	FanOut        Typology = "fan_out"        // one pays many
	ScatterGather Typology = "scatter_gather" // one pays another through many
	GatherScatter Typology = "gather_scatter" // many pay one, which then pays many
	Bipartite     Typology = "bipartite"      // each of some pays each of some others
	Stack         Typology = "stack"          // two bipartite layers, one on the other
	Random        Typology = "random"         // a walk that does not return
)

// Typologies are all of them.
var Typologies = []Typology{Cycle, FanIn, FanOut, ScatterGather, GatherScatter, Bipartite, Stack, Random}

// link is a payment between two accounts of a structure, by their places in it. Each payment of a round comes after
// all payments of the rounds before.
type link struct{ from, to, round int }

// draw returns a structure of the typology: the number of its accounts, and its payments by round.
func (t Typology) draw(rng *rand.Rand) (accounts int, links []link) {
	n := func(least, most int) int { return least + rng.IntN(most-least+1) }
	switch t {
	case Cycle:
		k := n(3, 5)
		return k, cycle(k)
	case FanIn, FanOut:
		k := n(4, 6)
		return 1 + k, fan(k, t == FanIn)
	case ScatterGather:
		return layers(1, n(3, 5), 1)
	case GatherScatter:
		return layers(n(3, 4), 1, n(3, 4))
	case Bipartite:
		return layers(n(2, 3), 3)
	case Stack:
		return layers(n(2, 3), 2, 2)
	default:
		k := n(4, 6)
		for i := range k {
			links = append(links, link{i, i + 1, i})
		}
		return k + 1, links
	}
}

// cycle is a ring of n accounts.
func cycle(n int) (links []link) {
	for i := range n {
		links = append(links, link{i, (i + 1) % n, i})
	}
	return links
}

// fan is n payments to or from account 0.
func fan(n int, in bool) (links []link) {
	for i := range n {
		if in {
			links = append(links, link{from: i + 1})
		} else {
			links = append(links, link{to: i + 1})
		}
	}
	return links
}

// layers has accounts in layers of the given sizes. Each account pays every one of the next layer.
func layers(sizes ...int) (accounts int, links []link) {
	for i, n := range sizes[:len(sizes)-1] {
		for from := range n {
			for to := range sizes[i+1] {
				links = append(links, link{accounts + from, accounts + n + to, i})
			}
		}
		accounts += n
	}
	return accounts + sizes[len(sizes)-1], links
}
