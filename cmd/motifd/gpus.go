package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"motifd/cmd/motifd/internal/admin"
)

// gpus are the GPUs that a backend was given. It is safe for concurrent use; nil has none.
type gpus struct {
	mu    sync.Mutex
	all   []admin.GPU
	graph *admin.GPUGraph // nil: they hold the whole graph
}

// setGraph sets where the graph is, if the GPUs do not hold all of it.
func (g *gpus) setGraph(at admin.GPUGraph) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.graph = &at
}

// graphPlace returns what setGraph has set; nil before.
func (g *gpus) graphPlace() *admin.GPUGraph {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.graph
}

// add adds a GPU that searches.
func (g *gpus) add(number int, name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = append(g.all, admin.GPU{Device: number, Name: name, State: admin.GPUUsed})
}

// lose has the GPU of an index be lost, and returns it.
func (g *gpus) lose(i int, why error) admin.GPU {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all[i].State, g.all[i].Reason = admin.GPULost, why.Error()
	return g.all[i]
}

// list returns all GPUs, also those that are lost.
func (g *gpus) list() []admin.GPU {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.all)
}

// names returns the names of the GPUs in use; several of one name as "2 x NAME".
func (g *gpus) names() string {
	var names []string
	times := map[string]int{}
	for _, x := range g.list() {
		if x.State != admin.GPUUsed {
			continue
		}
		if times[x.Name]++; times[x.Name] == 1 {
			names = append(names, x.Name)
		}
	}
	for i, n := range names {
		if times[n] > 1 {
			names[i] = fmt.Sprintf("%d x %s", times[n], n)
		}
	}
	return strings.Join(names, ", ")
}
