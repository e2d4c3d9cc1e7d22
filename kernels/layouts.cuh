// What the CUDA sources share with Go, as Go has it: each source asserts its own part.
// This file is written by
// go test -tags emu -run Layouts ./kernels -rewrite
#pragma once

#define ASSERT_VALUE(name, value) static_assert(name == value, #name " has another value in Go")
#define ASSERT_SIZE(T, size) static_assert(sizeof(T) == size, #T " has another size in Go")
#define ASSERT_FIELD(T, field, offset, size)                                      \
    static_assert(__builtin_offsetof(T, field) == offset && sizeof(T::field) == size, \
                  #T "." #field " has another offset or size in Go")

// device.cuh
#define LAYOUT_device \
    ASSERT_VALUE(kWarp, 32);

// graph.cuh
#define LAYOUT_graph \
    ASSERT_VALUE(kLeaf, 64); \
    ASSERT_VALUE(kStaged, 2147483648); \
    ASSERT_VALUE(kReplaced, 1073741824); \
    ASSERT_VALUE(kNone, 4294967295); \
    ASSERT_VALUE(kView, 0); \
    ASSERT_VALUE(kInserted, 1); \
    ASSERT_VALUE(kRemoved, 2); \
    ASSERT_VALUE(kEdgeValue, 0); \
    ASSERT_VALUE(kVertexValue, 1); \
    ASSERT_VALUE(kNumber, 2); \
    ASSERT_VALUE(kNull, 3); \
    ASSERT_VALUE(kSum, 4); \
    ASSERT_VALUE(kProduct, 5); \
    ASSERT_VALUE(kCompare, 6); \
    ASSERT_VALUE(kIsNull, 7); \
    ASSERT_VALUE(kAnd, 8); \
    ASSERT_VALUE(kOr, 9); \
    ASSERT_VALUE(kNear, 10); \
    ASSERT_VALUE(kHolds, 11); \
    ASSERT_SIZE(Span, 16); \
    ASSERT_SIZE(Interval, 32); \
    ASSERT_FIELD(Interval, mask, 0, 8); \
    ASSERT_FIELD(Interval, lo, 8, 8); \
    ASSERT_FIELD(Interval, more, 16, 8); \
    ASSERT_FIELD(Interval, word, 24, 4); \
    ASSERT_FIELD(Interval, shift, 28, 4); \
    ASSERT_SIZE(Instr, 32); \
    ASSERT_FIELD(Instr, left, 0, 8); \
    ASSERT_FIELD(Instr, right, 8, 8); \
    ASSERT_FIELD(Instr, op, 16, 4); \
    ASSERT_FIELD(Instr, at, 20, 4); \
    ASSERT_FIELD(Instr, column, 24, 4); \
    ASSERT_FIELD(Instr, more, 28, 4); \
    ASSERT_SIZE(Labels, 12); \
    ASSERT_FIELD(Labels, first, 0, 4); \
    ASSERT_FIELD(Labels, last, 4, 4); \
    ASSERT_FIELD(Labels, more, 8, 4); \
    ASSERT_SIZE(Where, 56); \
    ASSERT_FIELD(Where, words, 0, 8); \
    ASSERT_FIELD(Where, interval, 8, 8); \
    ASSERT_FIELD(Where, instr, 16, 8); \
    ASSERT_FIELD(Where, labels, 24, 8); \
    ASSERT_FIELD(Where, stride, 32, 4); \
    ASSERT_FIELD(Where, presence, 36, 4); \
    ASSERT_FIELD(Where, values, 40, 4); \
    ASSERT_FIELD(Where, vertexPresence, 44, 4); \
    ASSERT_FIELD(Where, vertexValues, 48, 4); \
    ASSERT_SIZE(Graph, 184); \
    ASSERT_FIELD(Graph, nbr, 0, 8); \
    ASSERT_FIELD(Graph, ent, 8, 8); \
    ASSERT_FIELD(Graph, count, 16, 8); \
    ASSERT_FIELD(Graph, runs, 24, 8); \
    ASSERT_FIELD(Graph, fenceRow, 32, 8); \
    ASSERT_FIELD(Graph, fenceNbr, 40, 8); \
    ASSERT_FIELD(Graph, span, 48, 8); \
    ASSERT_FIELD(Graph, order, 56, 8); \
    ASSERT_FIELD(Graph, bits, 64, 8); \
    ASSERT_FIELD(Graph, label, 72, 8); \
    ASSERT_FIELD(Graph, base, 80, 8); \
    ASSERT_FIELD(Graph, pairs, 88, 8); \
    ASSERT_FIELD(Graph, words, 96, 4); \
    ASSERT_FIELD(Graph, dirs, 100, 4); \
    ASSERT_FIELD(Graph, nbrBits, 104, 4); \
    ASSERT_FIELD(Graph, sees, 108, 4); \
    ASSERT_FIELD(Graph, old, 112, 4); \
    ASSERT_FIELD(Graph, shift, 116, 4); \
    ASSERT_FIELD(Graph, pairMask, 120, 4); \
    ASSERT_FIELD(Graph, where, 128, 56);

// plan.cuh
#define LAYOUT_plan \
    ASSERT_VALUE(kMaxVertices, 32); \
    ASSERT_VALUE(kMaxBacks, 64); \
    ASSERT_VALUE(kMaxSteps, 65); \
    ASSERT_VALUE(kAnchorAt, 63); \
    ASSERT_VALUE(kRows, 0); \
    ASSERT_VALUE(kCount, 1); \
    ASSERT_VALUE(kAny, 2); \
    ASSERT_VALUE(kByOrder, 0); \
    ASSERT_VALUE(kUnchanged, 1); \
    ASSERT_VALUE(kAnyEdge, 2); \
    ASSERT_VALUE(kInView, 3); \
    ASSERT_VALUE(kAnyLabel, 4294967295); \
    ASSERT_VALUE(kAmong, 2147483648); \
    ASSERT_VALUE(kEither, 2); \
    ASSERT_SIZE(Back, 36); \
    ASSERT_FIELD(Back, from, 0, 4); \
    ASSERT_FIELD(Back, to, 4, 4); \
    ASSERT_FIELD(Back, label, 8, 4); \
    ASSERT_FIELD(Back, dir, 12, 4); \
    ASSERT_FIELD(Back, edge, 16, 4); \
    ASSERT_FIELD(Back, rule, 20, 4); \
    ASSERT_FIELD(Back, nbrLabel, 24, 4); \
    ASSERT_FIELD(Back, test, 28, 4); \
    ASSERT_FIELD(Back, tests, 32, 4); \
    ASSERT_SIZE(Step, 64); \
    ASSERT_FIELD(Step, vertex, 0, 4); \
    ASSERT_FIELD(Step, position, 4, 4); \
    ASSERT_FIELD(Step, mask, 8, 8); \
    ASSERT_FIELD(Step, apart, 16, 8); \
    ASSERT_FIELD(Step, word, 24, 4); \
    ASSERT_FIELD(Step, conflicts, 28, 4); \
    ASSERT_FIELD(Step, above, 32, 4); \
    ASSERT_FIELD(Step, below, 36, 4); \
    ASSERT_FIELD(Step, back, 40, 4); \
    ASSERT_FIELD(Step, backs, 44, 4); \
    ASSERT_FIELD(Step, own, 48, 4); \
    ASSERT_FIELD(Step, after, 52, 4); \
    ASSERT_FIELD(Step, before, 56, 4); \
    ASSERT_SIZE(Leaf, 16); \
    ASSERT_FIELD(Leaf, step, 0, 4); \
    ASSERT_FIELD(Leaf, size, 4, 4); \
    ASSERT_FIELD(Leaf, column, 8, 4); \
    ASSERT_FIELD(Leaf, pair, 12, 4); \
    ASSERT_SIZE(Slice, 8); \
    ASSERT_FIELD(Slice, first, 0, 4); \
    ASSERT_FIELD(Slice, number, 4, 4); \
    ASSERT_SIZE(Program, 8072); \
    ASSERT_FIELD(Program, mode, 0, 4); \
    ASSERT_FIELD(Program, steps, 4, 4); \
    ASSERT_FIELD(Program, start, 8, 4); \
    ASSERT_FIELD(Program, leaves, 12, 4); \
    ASSERT_FIELD(Program, groups, 16, 4); \
    ASSERT_FIELD(Program, anchor, 20, 4); \
    ASSERT_FIELD(Program, vertices, 24, 4); \
    ASSERT_FIELD(Program, edges, 28, 4); \
    ASSERT_FIELD(Program, keep, 32, 4); \
    ASSERT_FIELD(Program, images, 36, 4); \
    ASSERT_FIELD(Program, image, 40, 4); \
    ASSERT_FIELD(Program, flat, 44, 4); \
    ASSERT_FIELD(Program, step, 48, 4160); \
    ASSERT_FIELD(Program, back, 4208, 2304); \
    ASSERT_FIELD(Program, leaf, 6512, 1040); \
    ASSERT_FIELD(Program, check, 7552, 520);

// state.cuh
#define LAYOUT_state \
    ASSERT_SIZE(State, 1972); \
    ASSERT_SIZE(Parked, 1980); \
    ASSERT_SIZE(Task, 12); \
    ASSERT_FIELD(Task, program, 0, 4); \
    ASSERT_FIELD(Task, net, 4, 4); \
    ASSERT_FIELD(Task, group, 8, 4); \
    ASSERT_SIZE(Net, 12); \
    ASSERT_FIELD(Net, edge, 0, 4); \
    ASSERT_FIELD(Net, from, 4, 4); \
    ASSERT_FIELD(Net, to, 8, 4); \
    ASSERT_SIZE(Tally, 32); \
    ASSERT_FIELD(Tally, low, 0, 8); \
    ASSERT_FIELD(Tally, high, 8, 8); \
    ASSERT_FIELD(Tally, steps, 16, 8); \
    ASSERT_FIELD(Tally, over, 24, 4); \
    ASSERT_SIZE(Control, 416); \
    ASSERT_FIELD(Control, used, 0, 8); \
    ASSERT_FIELD(Control, next, 128, 4); \
    ASSERT_FIELD(Control, taken, 256, 4); \
    ASSERT_FIELD(Control, left, 260, 4); \
    ASSERT_FIELD(Control, busy, 384, 4); \
    ASSERT_FIELD(Control, parked, 388, 4); \
    ASSERT_FIELD(Control, stolen, 392, 4); \
    ASSERT_FIELD(Control, shared, 396, 4); \
    ASSERT_FIELD(Control, counting, 400, 4); \
    ASSERT_FIELD(Control, held, 404, 4); \
    ASSERT_FIELD(Control, given, 408, 4); \
    ASSERT_FIELD(Control, stop, 412, 4); \
    ASSERT_SIZE(Programs, 24); \
    ASSERT_FIELD(Programs, program, 0, 8); \
    ASSERT_FIELD(Programs, owner, 8, 8); \
    ASSERT_FIELD(Programs, image, 16, 8); \
    ASSERT_SIZE(Memo, 56); \
    ASSERT_FIELD(Memo, offer, 0, 8); \
    ASSERT_FIELD(Memo, column, 8, 8); \
    ASSERT_FIELD(Memo, both, 16, 8); \
    ASSERT_FIELD(Memo, pair, 24, 8); \
    ASSERT_FIELD(Memo, known, 32, 4); \
    ASSERT_FIELD(Memo, vertices, 36, 4); \
    ASSERT_FIELD(Memo, vertexBits, 40, 4); \
    ASSERT_FIELD(Memo, keyBits, 44, 4); \
    ASSERT_FIELD(Memo, slotBits, 48, 4); \
    ASSERT_SIZE(TaskQueue, 104); \
    ASSERT_FIELD(TaskQueue, task, 0, 8); \
    ASSERT_FIELD(TaskQueue, net, 8, 8); \
    ASSERT_FIELD(TaskQueue, control, 16, 8); \
    ASSERT_FIELD(TaskQueue, parked, 24, 8); \
    ASSERT_FIELD(TaskQueue, box, 32, 8); \
    ASSERT_FIELD(TaskQueue, mail, 40, 8); \
    ASSERT_FIELD(TaskQueue, left, 48, 8); \
    ASSERT_FIELD(TaskQueue, flatBox, 56, 8); \
    ASSERT_FIELD(TaskQueue, flatMail, 64, 8); \
    ASSERT_FIELD(TaskQueue, tasks, 72, 4); \
    ASSERT_FIELD(TaskQueue, take, 76, 4); \
    ASSERT_FIELD(TaskQueue, mailing, 80, 4); \
    ASSERT_FIELD(TaskQueue, steal, 84, 4); \
    ASSERT_FIELD(TaskQueue, slice, 88, 4); \
    ASSERT_FIELD(TaskQueue, closing, 92, 4); \
    ASSERT_FIELD(TaskQueue, flatWords, 96, 4); \
    ASSERT_FIELD(TaskQueue, heeds, 100, 4); \
    ASSERT_SIZE(Output, 40); \
    ASSERT_FIELD(Output, tally, 0, 8); \
    ASSERT_FIELD(Output, stop, 8, 8); \
    ASSERT_FIELD(Output, buffer, 16, 8); \
    ASSERT_FIELD(Output, capacity, 24, 8); \
    ASSERT_FIELD(Output, stride, 32, 4); \
    ASSERT_SIZE(Search, 408); \
    ASSERT_FIELD(Search, graph, 0, 184); \
    ASSERT_FIELD(Search, programs, 184, 24); \
    ASSERT_FIELD(Search, memo, 208, 56); \
    ASSERT_FIELD(Search, queue, 264, 104); \
    ASSERT_FIELD(Search, output, 368, 40);

// emit.cuh
#define LAYOUT_emit \
    ASSERT_VALUE(kOutWords, 512);

// flat.cuh
#define LAYOUT_flat \
    ASSERT_VALUE(kFlatBacks, 3);

// flatmail.cuh
#define LAYOUT_flatmail \
    ASSERT_VALUE(kFlatLevels, 4); \
    ASSERT_SIZE(Flats, 16900);

// wbm.cuh
#define LAYOUT_wbm \
    ASSERT_VALUE(kBlockWarps, 8);

// space.cuh
#define LAYOUT_space \
    ASSERT_SIZE(Space, 208); \
    ASSERT_FIELD(Space, graph, 0, 184); \
    ASSERT_FIELD(Space, program, 184, 8); \
    ASSERT_FIELD(Space, space, 192, 8); \
    ASSERT_FIELD(Space, vertices, 200, 4); \
    ASSERT_FIELD(Space, back, 204, 4);

// tasks.cu
#define LAYOUT_tasks \
    ASSERT_SIZE(Run, 16); \
    ASSERT_FIELD(Run, first, 0, 4); \
    ASSERT_FIELD(Run, net, 4, 4); \
    ASSERT_FIELD(Run, program, 8, 4); \
    ASSERT_FIELD(Run, group, 12, 4); \
    ASSERT_SIZE(Runs, 32); \
    ASSERT_FIELD(Runs, run, 0, 8); \
    ASSERT_FIELD(Runs, net, 8, 8); \
    ASSERT_FIELD(Runs, task, 16, 8); \
    ASSERT_FIELD(Runs, runs, 24, 4); \
    ASSERT_FIELD(Runs, tasks, 28, 4);

// fetch.cu
#define LAYOUT_fetch \
    ASSERT_SIZE(Fetch, 24); \
    ASSERT_FIELD(Fetch, dst, 0, 8); \
    ASSERT_FIELD(Fetch, src, 8, 8); \
    ASSERT_FIELD(Fetch, words, 16, 8);

// patch.cu
#define LAYOUT_patch \
    ASSERT_SIZE(Patch, 32); \
    ASSERT_FIELD(Patch, dst, 0, 8); \
    ASSERT_FIELD(Patch, src, 8, 8); \
    ASSERT_FIELD(Patch, at, 16, 8); \
    ASSERT_FIELD(Patch, records, 24, 4); \
    ASSERT_FIELD(Patch, words, 28, 4);

// sort.cuh
#define LAYOUT_sort \
    ASSERT_VALUE(kSortThreads, 256); \
    ASSERT_VALUE(kSortTile, 4096); \
    ASSERT_VALUE(kDigits, 256); \
    ASSERT_SIZE(Sort, 56); \
    ASSERT_FIELD(Sort, keys, 0, 8); \
    ASSERT_FIELD(Sort, values, 8, 8); \
    ASSERT_FIELD(Sort, keysOut, 16, 8); \
    ASSERT_FIELD(Sort, valuesOut, 24, 8); \
    ASSERT_FIELD(Sort, counts, 32, 8); \
    ASSERT_FIELD(Sort, n, 40, 4); \
    ASSERT_FIELD(Sort, shift, 44, 4); \
    ASSERT_FIELD(Sort, bits, 48, 4); \
    ASSERT_FIELD(Sort, tiles, 52, 4);

// rows.cuh
#define LAYOUT_rows \
    ASSERT_VALUE(kRowThreads, 256); \
    ASSERT_VALUE(kMaxStride, 128); \
    ASSERT_VALUE(kMaxFields, 32); \
    ASSERT_SIZE(RowBits, 24); \
    ASSERT_FIELD(RowBits, rows, 0, 8); \
    ASSERT_FIELD(RowBits, bits, 8, 8); \
    ASSERT_FIELD(RowBits, n, 16, 4); \
    ASSERT_FIELD(RowBits, stride, 20, 4); \
    ASSERT_SIZE(RowKeys, 176); \
    ASSERT_FIELD(RowKeys, rows, 0, 8); \
    ASSERT_FIELD(RowKeys, order, 8, 8); \
    ASSERT_FIELD(RowKeys, keys, 16, 8); \
    ASSERT_FIELD(RowKeys, values, 24, 8); \
    ASSERT_FIELD(RowKeys, n, 32, 4); \
    ASSERT_FIELD(RowKeys, stride, 36, 4); \
    ASSERT_FIELD(RowKeys, fields, 40, 4); \
    ASSERT_FIELD(RowKeys, field, 48, 128); \
    ASSERT_SIZE(RowBounds, 32); \
    ASSERT_FIELD(RowBounds, keys, 0, 8); \
    ASSERT_FIELD(RowBounds, first, 8, 8); \
    ASSERT_FIELD(RowBounds, n, 16, 4); \
    ASSERT_FIELD(RowBounds, shift, 20, 4); \
    ASSERT_FIELD(RowBounds, group, 24, 4); \
    ASSERT_FIELD(RowBounds, mask, 28, 4); \
    ASSERT_SIZE(Destination, 16); \
    ASSERT_FIELD(Destination, word, 0, 8); \
    ASSERT_FIELD(Destination, first, 8, 4); \
    ASSERT_FIELD(Destination, width, 12, 4); \
    ASSERT_SIZE(RowGather, 48); \
    ASSERT_FIELD(RowGather, rows, 0, 8); \
    ASSERT_FIELD(RowGather, order, 8, 8); \
    ASSERT_FIELD(RowGather, out, 16, 8); \
    ASSERT_FIELD(RowGather, destination, 24, 8); \
    ASSERT_FIELD(RowGather, n, 32, 4); \
    ASSERT_FIELD(RowGather, stride, 36, 4); \
    ASSERT_FIELD(RowGather, width, 40, 4);

// gpma.cuh
#define LAYOUT_gpma \
    ASSERT_VALUE(kThreads, 256); \
    ASSERT_VALUE(kTile, 2048); \
    ASSERT_VALUE(kPiece, 2048); \
    ASSERT_VALUE(kFullness, 63); \
    ASSERT_VALUE(kOut, 2147483648); \
    ASSERT_VALUE(kStays, 2147483648); \
    ASSERT_SIZE(OpRange, 8); \
    ASSERT_SIZE(Segment, 8); \
    ASSERT_SIZE(Op, 20); \
    ASSERT_SIZE(Op, 20); \
    ASSERT_FIELD(Op, ent, 0, 4); \
    ASSERT_FIELD(Op, from, 4, 4); \
    ASSERT_FIELD(Op, to, 8, 4); \
    ASSERT_FIELD(Op, kind, 12, 4); \
    ASSERT_FIELD(Op, back, 16, 4); \
    ASSERT_SIZE(NetEdge, 12); \
    ASSERT_FIELD(NetEdge, edge, 0, 4); \
    ASSERT_FIELD(NetEdge, from, 4, 4); \
    ASSERT_FIELD(NetEdge, to, 8, 4); \
    ASSERT_SIZE(GpmaControl, 32); \
    ASSERT_FIELD(GpmaControl, entries, 0, 4); \
    ASSERT_FIELD(GpmaControl, pending, 4, 4); \
    ASSERT_FIELD(GpmaControl, segments, 8, 4); \
    ASSERT_FIELD(GpmaControl, rebuild, 12, 4); \
    ASSERT_FIELD(GpmaControl, scratch, 16, 4); \
    ASSERT_FIELD(GpmaControl, leaves, 20, 4); \
    ASSERT_FIELD(GpmaControl, added, 24, 4); \
    ASSERT_SIZE(Slots, 72); \
    ASSERT_FIELD(Slots, nbr, 0, 8); \
    ASSERT_FIELD(Slots, ent, 8, 8); \
    ASSERT_FIELD(Slots, count, 16, 8); \
    ASSERT_FIELD(Slots, will, 24, 8); \
    ASSERT_FIELD(Slots, used, 32, 8); \
    ASSERT_FIELD(Slots, runs, 40, 8); \
    ASSERT_FIELD(Slots, fenceRow, 48, 8); \
    ASSERT_FIELD(Slots, fenceNbr, 56, 8); \
    ASSERT_FIELD(Slots, leaves, 64, 4); \
    ASSERT_SIZE(Gpma, 472); \
    ASSERT_FIELD(Gpma, a, 0, 72); \
    ASSERT_FIELD(Gpma, b, 72, 72); \
    ASSERT_FIELD(Gpma, span, 144, 8); \
    ASSERT_FIELD(Gpma, degree, 152, 8); \
    ASSERT_FIELD(Gpma, order, 160, 8); \
    ASSERT_FIELD(Gpma, net, 168, 8); \
    ASSERT_FIELD(Gpma, op, 176, 8); \
    ASSERT_FIELD(Gpma, before, 184, 8); \
    ASSERT_FIELD(Gpma, staged, 192, 8); \
    ASSERT_FIELD(Gpma, key, 200, 8); \
    ASSERT_FIELD(Gpma, val, 208, 8); \
    ASSERT_FIELD(Gpma, sortedKey, 216, 8); \
    ASSERT_FIELD(Gpma, sortedVal, 224, 8); \
    ASSERT_FIELD(Gpma, at, 232, 8); \
    ASSERT_FIELD(Gpma, info, 240, 8); \
    ASSERT_FIELD(Gpma, sum, 248, 8); \
    ASSERT_FIELD(Gpma, range, 256, 8); \
    ASSERT_FIELD(Gpma, base, 264, 8); \
    ASSERT_FIELD(Gpma, pending, 272, 8); \
    ASSERT_FIELD(Gpma, segment, 280, 8); \
    ASSERT_FIELD(Gpma, mark, 288, 8); \
    ASSERT_FIELD(Gpma, scratchRow, 296, 8); \
    ASSERT_FIELD(Gpma, scratchNbr, 304, 8); \
    ASSERT_FIELD(Gpma, scratchEnt, 312, 8); \
    ASSERT_FIELD(Gpma, tile, 320, 8); \
    ASSERT_FIELD(Gpma, control, 328, 8); \
    ASSERT_FIELD(Gpma, ops, 336, 4); \
    ASSERT_FIELD(Gpma, settle, 340, 4); \
    ASSERT_FIELD(Gpma, abort, 344, 4); \
    ASSERT_FIELD(Gpma, stagedFrom, 348, 4); \
    ASSERT_FIELD(Gpma, keys, 352, 4); \
    ASSERT_FIELD(Gpma, dirs, 356, 4); \
    ASSERT_FIELD(Gpma, idBits, 360, 4); \
    ASSERT_FIELD(Gpma, labelBits, 364, 4); \
    ASSERT_FIELD(Gpma, height, 368, 4); \
    ASSERT_FIELD(Gpma, stamp, 372, 4); \
    ASSERT_FIELD(Gpma, force, 376, 4); \
    ASSERT_FIELD(Gpma, again, 380, 4); \
    ASSERT_FIELD(Gpma, scratchSize, 384, 4); \
    ASSERT_FIELD(Gpma, least, 388, 4); \
    ASSERT_FIELD(Gpma, most, 392, 4); \
    ASSERT_FIELD(Gpma, from, 396, 4); \
    ASSERT_FIELD(Gpma, to, 400, 4); \
    ASSERT_FIELD(Gpma, whole, 404, 4); \
    ASSERT_FIELD(Gpma, wide, 408, 4); \
    ASSERT_FIELD(Gpma, nbrBits, 412, 4); \
    ASSERT_FIELD(Gpma, nbrUsed, 416, 4); \
    ASSERT_FIELD(Gpma, first, 420, 4); \
    ASSERT_FIELD(Gpma, leaf, 424, 4); \
    ASSERT_FIELD(Gpma, sorted, 428, 4); \
    ASSERT_FIELD(Gpma, top, 432, 4); \
    ASSERT_FIELD(Gpma, shift, 436, 4); \
    ASSERT_FIELD(Gpma, label, 440, 8); \
    ASSERT_FIELD(Gpma, rangeAt, 448, 8); \
    ASSERT_FIELD(Gpma, pairs, 456, 8); \
    ASSERT_FIELD(Gpma, pairMask, 464, 4);
