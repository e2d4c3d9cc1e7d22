// Package rowsort puts the rows of one result group, an anchor edge and a query, in canonical order (DESIGN S7): by the
// vertices in pattern order, then by the identities of the edges. It is an external merge sort (Knuth, TAOCP 5.4) whose
// runs are sorted by radix (LSD, on packed keys) and stored with prefix compression.
//
//   - In: a Layout (how many columns a row has, how edges compare) and rows of uint32. A Sorter takes whole rows (Add)
//     or suffixes of a row that many rows share (Suffixes), as a backtracking search finds them.
//   - Out: Sorted, the rows of the group, which hands them on in blocks (Each). Sorters of several workers are joined.
//     Ranges cuts a merge into key ranges that workers merge side by side.
//   - Memory: Sorter.Memory bounds a group; beyond it runs go to a File, whose bytes count against a budget (DESIGN
//     P4). Blocks are pooled and reference counted; a block passed to emit is borrowed until emit returns.
//
// The package knows nothing of searches, graphs on a device, or workers. The CPU backend feeds it from its workers,
// the GPU backend from rows that the device has sorted (RunWriter). A column for a further part of the key, such as the
// identity of one of several parallel edges, goes into Layout.
package rowsort
