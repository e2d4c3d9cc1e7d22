// Package program compiles matching orders into programs: plain data that every search and count of the CPU backend
// follows, after GAMMA (section IV) and the matching orders of backtracking search.
//
// In go plans (matcher.Plan) and candidate tests (package candidates); out come Orders of Steps, each with its back
// edges, the keys of the neighbor lists it reads (ListKeys) and all that decides whether a binding is admitted.
// NetEdges groups the net edges of the staged batch by label triple. The backend owns the compiled orders and the keys;
// they do not change after compilation, and all workers read them. Nothing here searches, and nothing of package cpu is
// imported.
//
// A vertex predicate joins Step.Test, as part of ListKey; a time window or any other condition between images joins
// Admission. Counts have an admission of their own (count/admission.go), the GPU has kernels/admission.cuh.
package program
