// Package work has searches and counts done by several workers within a budget (DESIGN A8, S11).
//
// A Worker is one goroutine's share: it counts search steps, looks every PollEvery steps at the stop flags and at the
// budget (matcher.Meter), and gives away work when another worker has nothing to do. Work is never taken from a worker:
// it is asked, and splits off half of what is left at its shallowest level, so that no step of a search is locked. A
// Part, the work given away, is opaque here: the code that made it resumes it on the worker that takes it. A Pool hands
// out searches whose order does not matter, in chunks, and Parts; rows, whose order matters, have a scheduler of their
// own in package cpu. The caller of a search owns its Worker and its Pool.
//
// Another limit joins Worker.Poll. Nothing of package cpu is imported.
package work
