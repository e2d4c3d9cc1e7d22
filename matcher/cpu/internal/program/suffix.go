package program

// Suffix is a pair of consecutive steps, s1 and s2, whose candidates depend on the image of one earlier step, the root:
// s1 has one back edge, to the root; s2 has one to s1 and perhaps one to the root. The pairs of images are therefore
// the same whenever the root has the same image, and can be memoised by it. Admission (injectivity and visibility)
// depends on the rest of the match and is decided each time. An order has at most one Suffix, the last one possible;
// leaf vertices may follow it.
type Suffix struct {
	Number         uint32   // equal for suffixes that find the same pairs from the same root image
	S1             int      // step; s2 is the next one
	Root           int      // step
	BackToS1       int      // index, among the back edges of s2, of the one to s1
	RootMustDiffer bool     // the images of s2 and of the root must be compared, since no pattern edge joins them
	MustDiffer     [2][]int // by step of the suffix: its Step.MustDiffer without the root and s1
}

// suffixKey determines, with the image of the root, which pairs a suffix finds.
type suffixKey struct {
	s1             int    // list key of the back edge of s1
	s2             [2]int // list keys of the back edges of s2; -1 for none
	backToS1       int
	rootMustDiffer bool
}

// suffixOf returns the last suffix of an order, nil if it has none.
func (c *ListKeys) suffixOf(o *Order) *Suffix {
	if len(o.Forms) > 1 || o.Members != nil {
		return nil
	}
	for d := len(o.Steps) - 2; d >= 2; d-- {
		if e := c.suffixAt(o, d); e != nil {
			return e
		}
	}
	return nil
}

// suffixAt returns the suffix that starts at step d, nil if none does.
func (c *ListKeys) suffixAt(o *Order, d int) *Suffix {
	s1, s2 := &o.Steps[d], &o.Steps[d+1]
	if !s1.Simple || !s2.Simple || s1.Tested || s2.Tested || len(s1.Back) != 1 ||
		len(s2.Back) > 2 || len(s1.Less)+len(s2.Less) > 0 {
		return nil
	}
	e := &Suffix{S1: d, Root: s1.Back[0].Step, BackToS1: -1}
	key := suffixKey{s1: s1.Back[0].ListKey, s2: [2]int{-1, -1}}
	for k := range s2.Back {
		switch key.s2[k] = s2.Back[k].ListKey; s2.Back[k].Step {
		case d:
			if e.BackToS1 >= 0 { // a homomorphism of parallel edges
				return nil
			}
			e.BackToS1 = k
		case e.Root:
		default:
			return nil
		}
	}
	if e.BackToS1 < 0 {
		return nil
	}
	for i, st := range [2]*Step{s1, s2} {
		for _, k := range st.MustDiffer {
			switch {
			case k != e.Root && k != d:
				e.MustDiffer[i] = append(e.MustDiffer[i], k)
			case i == 1 && k == e.Root: // an edge to the root keeps s2 off it: there are no self-loops
				e.RootMustDiffer = len(s2.Back) == 1
			}
		}
	}
	key.backToS1, key.rootMustDiffer = e.BackToS1, e.RootMustDiffer
	e.Number = c.suffixNumber(key)
	return e
}

// suffixNumber returns the number of a key and assigns the next one to a new key.
func (c *ListKeys) suffixNumber(key suffixKey) uint32 {
	if c.suffixes == nil {
		c.suffixes = map[suffixKey]uint32{}
	}
	at, ok := c.suffixes[key]
	if !ok {
		at = uint32(len(c.suffixes))
		c.suffixes[key] = at
	}
	return at
}
