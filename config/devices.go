package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Devices are the GPUs that search: numbers, written 0 or 0,1, or all that there are. None is GPU 0.
type Devices struct {
	All     bool
	Numbers []int
}

// UnmarshalText reads numbers or all.
func (d *Devices) UnmarshalText(text []byte) error {
	var all []int
	word := strings.TrimSpace(string(text))
	if word == "all" {
		*d = Devices{All: true}
		return nil
	}
	for item := range strings.SplitSeq(word, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil {
			return fmt.Errorf("%q is neither the number of a GPU, nor several like 0,1, nor all", text)
		}
		all = append(all, n)
	}
	*d = Devices{Numbers: all}
	return nil
}

// Check returns what is wrong with numbers that no host can have; it continues the name of a field.
func (d Devices) Check() error {
	for i, n := range d.Numbers {
		if n < 0 {
			return fmt.Errorf("is %d; the first GPU is 0", n)
		}
		if slices.Contains(d.Numbers[:i], n) {
			return fmt.Errorf("names GPU %d twice", n)
		}
	}
	return nil
}

// bindNode reads a list of numbers, or text.
func (d *Devices) bindNode(n ast.Node) error {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		text, ok := scalarText(n)
		if !ok {
			return fmt.Errorf("expected the number of a GPU, a list of numbers, or all, not %s", nodeName(n))
		}
		return d.UnmarshalText([]byte(text))
	}
	var items []string
	for _, item := range list.Values {
		text, ok := scalarText(item)
		if !ok {
			return fmt.Errorf("expected the number of a GPU, not %s", nodeName(item))
		}
		items = append(items, text)
	}
	return d.UnmarshalText([]byte(strings.Join(items, ",")))
}

// String writes the numbers, or all.
func (d Devices) String() string {
	if d.All {
		return "all"
	}
	var items []string
	for _, n := range d.List(0) {
		items = append(items, strconv.Itoa(n))
	}
	return strings.Join(items, ",")
}

// List returns the numbers, where a host has a number of GPUs.
func (d Devices) List(gpus int) []int {
	switch {
	case d.All:
		all := make([]int, gpus)
		for i := range all {
			all[i] = i
		}
		return all
	case len(d.Numbers) == 0:
		return []int{0}
	}
	return d.Numbers
}
