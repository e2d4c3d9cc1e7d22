package count

import "motifd/matcher"

// A method counts a component, for the images of its separator, apart from all that is mapped. It reports false when a
// number exceeds 64 bits or its scratch memory is in use; the component is then eliminated block by block, as
// components without a method always are.
type method interface {
	count(c *Counter, p *component) (n matcher.Count, ok bool)
}

// leaf is the method of a component of one block with one edge.
type leaf struct{}

func (leaf) count(c *Counter, p *component) (matcher.Count, bool) {
	return c.countLeaf(p.next, p.to, &p.from[0]), true
}

func (p *path) count(c *Counter, _ *component) (matcher.Count, bool) { return c.countPath(p) }

func (s *spider) count(c *Counter, _ *component) (matcher.Count, bool) { return c.countSpider(s) }

// newMethod returns the method that counts a component of several blocks that are not all leaves, nil if there is none.
func (ps *quotientComponents) newMethod(p *component) method {
	if path := ps.asPath(p); path != nil {
		return path
	}
	if spider := ps.asSpider(p); spider != nil {
		return spider
	}
	return nil
}
