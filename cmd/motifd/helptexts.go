package main

import (
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"motifd/cmd/motifd/internal/admin"
	"motifd/cmd/motifd/internal/bench"
	"motifd/matcher"
	"motifd/stream"
)

// helpTexts puts longHelp in place of ${name} in the help of flags and commands. As kong.Vars they would take most of
// the time of a start: kong expands every variable anew for each flag.
var helpTexts = kong.PostBuild(func(k *kong.Kong) error {
	var names []string
	for name, text := range longHelp {
		names = append(names, "${"+name+"}", text)
	}
	texts := strings.NewReplacer(names...)
	return kong.Visit(k.Model, func(x kong.Visitable, next kong.Next) error {
		switch x := x.(type) {
		case *kong.Node:
			x.Help = texts.Replace(x.Help)
		case *kong.Value:
			x.Help = texts.Replace(x.Help)
		}
		return next(nil)
	})
})

// longHelp are the help texts of flags and commands that are too long for their tags, in the order of their names. They
// include those of packages admin and bench.
var longHelp = kong.Vars{
	"analyze_help": "Update stream whose end is played behind the graph, to tell what the queries cost, in the " +
		"formats of --graph.",
	"audit_cmd_help": "Compare the matches in the graph of a checkpoint with those that were emitted.",
	"backend_help": "What searches: auto, cpu, cuda (a GPU, in motifd-cuda), or reference, a slow oracle for " +
		"small graphs",
	"backfill_help": "Existing matches to emit now: none, or full for all (default: full if the daemon's " +
		"output.mode is upsert, else none).",
	"backup_to_help": "Directory to create; it must not exist. A running daemon creates it on its own host, as " +
		"its own user.",
	"batch_log_help":       "Replay the batch log of a checkpoint: the same bytes as the daemon wrote.",
	"batch_time_help":      "Limit on the search time of all queries in one batch, summed over threads; 0 is no limit.",
	"bootstrap_help":       "Initial graph, loaded into a new checkpoint without output: graph.bootstrap.",
	"brokers_timeout_help": "How long to wait for the brokers",
	"checkpoint_cmd_help":  "Look into a checkpoint, copy or migrate it, or have a query suspended.",
	"csv_help": "Columns of CSV files: from=COL,to=COL,label=COL,ts=COL,... A COL is a name, #1 for the first " +
		"column, or 'x' for a constant.",
	"demo_cmd_help": "Show fraud rings being reported live, without a broker or configuration.",
	"device_help":   "GPUs that search: a number, several like 0,1, or all (default: 0).",
	"device_memory_help": "Memory that is taken of each GPU, as 4GiB. What does not fit is read from the host " +
		"(default: all that it has).",
	"edge_identity_help": "What an edge is: its ends and label (ends), or these and its id (id). Default: id " +
		"with --properties or with replay's --retention, otherwise ends.",
	"emit_help":   "What to emit: deltas, counts or exists.",
	"format_help": "Format of the updates: json, csv or text (default: by extension).",
	"graph_help":  "Graph file: .txt or .graph, .jsonl, .csv, each also with .gz or .zst.",
	"labels_graph_help": "Graph file in which to look up the labels of the patterns: .txt or .graph, .jsonl, " +
		".csv, each also with .gz or .zst.",
	"late_help": "What happens with insertions whose ts lies before their label's horizon: drop counts them, " +
		"report also writes them to --dead-letter.",
	"lateness_help": "How far the watermark stays behind the greatest ts that was accepted: 1h.",
	"levels_help": "Also search the graph, or play the sample in batches, and print what happened at each step of " +
		"each matching order.",
	"log_format_help": "Log format: console, json, or auto, which is console on a terminal. For run it " +
		"overrides log.format.",
	"log_level_help":   "Log level: debug, info, warn, error. For run it overrides log.level.",
	"match_limit_help": "Write at most the first N matches of each query, in their order; 0 for all.",
	"match_mode_help": "What must differ in a match: isomorphism (its vertices and edges), trail (its edges), or " +
		"homomorphism (nothing).",
	"match_out_help": "Write the matches as JSON lines to a file, or - for standard output. Without it they are " +
		"only counted.",
	"max_expansion_help": "Maximum ratio of decompressed to compressed size of a file, beyond its first 16 MiB. " +
		"A file beyond it counts as damaged",
	"max_expired_help": "Maximum edges that expire in one batch; edges of one ts expire together (default: " +
		strconv.Itoa(stream.DefaultMaxExpired) + ").",
	"migrate_cmd_help": "Make a new checkpoint from one, with another edge identity, several vertex labels, another " +
		"output or format of the input.",
	"mode_help": "live; or shadow: search and count without output.",
	"on_change_help": "What becomes of a match that holds before and after a batch in which declared values of its " +
		"edges change: emit writes its end and its beginning, silent neither. With WITH, emit writes one record with " +
		"the new values, and silent is the default.",
	"on_damage_help": "When a file of updates cannot be read to its end, for example truncated compressed data: " +
		"stop, or skip the rest of the file as one refused record. The exit status is 1 either way.",
	"on_expiry_help": "What becomes of matches whose edges expire: emit writes their end, silent neither " +
		"searches nor writes it.",
	"once_for_help": "Time within which a key has one positive, in event time: 90s, 24h, 7d.",
	"once_max_keys_help": "Keys that are remembered at most; beyond it the oldest are forgotten (default: " +
		strconv.Itoa(matcher.DefaultOnceKeys) + ").",
	"once_per_help": "Write one positive per key within --once-for, and no negatives; the names of vertices and " +
		"edges make the key.",
	"over_budget_help": "What happens beyond a limit: skip leaves out the group in which it is reached (one " +
		"update and this query), suspend stops the query.",
	"param_help": "What $NAME in a pattern stands for: a number, true, a span such as 24h, 'text' or [1, 2]; " +
		"repeatable.",
	"partitions_help":   "Partitions of the input and output topics; the others have 1",
	"pattern_file_help": "Pattern file: .cypher, or the papers' text as .txt or .graph.",
	"patterns_help":     "Pattern file, or directory of them; repeatable.",
	"properties_help": "Declared properties of edges and vertices: a YAML file, or the text itself, edges: " +
		"{TRANSFER: {amount: decimal(2), ts: timestamp}}; or infer: the files are read first, and the types that all " +
		"their values have are declared and shown.",
	"query_output_help": "Limit on the records of one query's matches in one batch, as 1GiB; 0 is no limit.",
	"query_time_help":   "Limit on the search time of one query in one batch, summed over threads; 0 is no limit.",
	"replay_dead_letter_help": "File for refused records, and for late updates with --late=report (default: they " +
		"are logged).",
	"replay_graph_help": "Initial graph, loaded without output: .txt or .graph, .jsonl, .csv, each also with " +
		".gz or .zst.",
	"replay_out_help": "File for the deltas, as JSON lines; - for standard output, none to discard them",
	"reset_progress_help": "Go on behind the checkpoint although the output or its progress topic was lost, " +
		"replaced or written by others. For one start: records of the current batch may appear twice. A file " +
		"output is cut back to the checkpoint.",
	"retention_help": "Edges expire this long after their ts, by label, in event time: TRANSFER=30d,*=90d " +
		"(default: none expires).",
	"run_suspend_help": "Suspend a query at this start, before more of it is published: for a batch that does " +
		"not end. Repeatable. Leave it out at later starts, which would suspend the resumed query again.",
	"sample_batch_help": "Updates per batch of the sample (default: batch.max_updates of the configuration, " +
		"10,000 without one).",
	"sample_updates_help": "Update stream whose end is played to estimate what the queries cost, in the formats of " +
		"--graph.",
	"set_help":         "Set a field of the configuration; repeatable. It overrides file and environment.",
	"size_config_help": "Configuration that says what edges have, and the queues. Its data may be on another machine.",
	"spill_bytes_help": "Limit on the temporary files of one batch, as 16GiB; 0 is no limit.",
	"stop_timeout_help": "How long the current batch may take after the first interrupt or SIGTERM before it is " +
		"abandoned; 0 is no limit",
	"suspend_cmd_help": "Suspend a query at the next start, also in the middle of a batch.",
	"trace_batches_help": "Number of batches in the timeline of --trace. The file is written when the last one " +
		"is committed",
	"trace_help": "Write a timeline of the first batches, for chrome://tracing or ui.perfetto.dev: what reader, " +
		"engine, publisher and GPU did, and when. The summary then tells how much overlapped with searches of " +
		"other batches.",
	"unit_help": "What one match is: embeddings (every mapping), or subgraphs (one per set of symmetric " +
		"mappings).",
	"updates_help":         "Update stream, in the same formats; - is standard input, with --format.",
	"validate_config_help": "Check the queries of a configuration, with its declared properties, retention and limits.",
	"vertex_expiry_help": "Vertices that go with their last edge: isolated removes those that no +v " +
		"declared and that have no declared property.",
	"vertex_labels_help": "How many labels a vertex may have: one, or several, which come and go",
	"within_help":        "Greatest ts of a match's edges less the least: 90s, 24h, 7d.",
	"work_budget_help":   "Maximum search steps per batch, in addition to engine.limits; 0 is no limit.",
}.CloneWith(bench.HelpTexts).CloneWith(admin.HelpTexts)
