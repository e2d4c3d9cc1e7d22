// Package candidates maintains, for every data vertex, one bit per class of pattern vertices: whether the vertex can be
// the image of a pattern vertex of that class, going by its label, by the edges it has (the neighbourhood encoding of
// GSI, section IV, and GAMMA, section IV-B; DESIGN A5) and by the conditions on it alone (package truths; A13). A class
// is a set of pattern vertices, of any queries, with equal requirements (plan.RequirementOf) and equal such conditions.
//
// In: the graph (Load), the plans to serve (Prepare), and each batch (Stage, then Commit or Abort). Out: the bits,
// which a Test reads, and the bits that changed (Changed). While a batch is staged, a bit is the old one OR the new
// one, so that it holds in both views. Every search reads the bits; a bit that is not set excludes the vertex, a bit
// that is set promises nothing.
//
// Owner: one backend, which alone changes the Filter. Another backend over the same graph may read it between the
// owner's calls: cuda hands the Filter that it reads to the CPU backend beside it (cpu.Options.Filter).
//
// A vertex predicate that depends on the vertex alone goes into plan.Requirement, so that vertices that fail it have no
// bit, and every search and count of both backends obeys it without further code. So it is with conditions on a vertex
// alone, as long as the batch revises no vertex for which they matter: of such a one the bit does not tell the view. A
// time window or a condition on an edge does not belong here: it needs the matched edge, so that it is tested where the
// edge is matched.
package candidates
