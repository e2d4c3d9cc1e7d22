package main

import (
	"errors"
	"fmt"
	"syscall"

	"motifd/stream"
	"motifd/stream/checkpoint"
	"motifd/stream/file"
	"motifd/stream/kafka"
	"motifd/stream/kafka/publish"
	"motifd/stream/kafka/source"
)

// generalAdvice says what an operator can do about a stop that took too long, and about the disk under the checkpoint
// and the temporary files.
var generalAdvice = []struct {
	is   error
	text string
}{
	{stream.ErrStopTimeout,
		"nothing is lost: the next start repeats the batch. Raise stop_timeout if it would have ended soon; if it " +
			"does not end, suspend the query that holds it: motifd checkpoint suspend DIR --query NAME"},
	{checkpoint.ErrDamaged,
		"restore the directory from a backup (motifd checkpoint backup), or start from nothing with another " +
			"checkpoint.dir and another output; motifd checkpoint verify DIR tells more"},
	{syscall.ENOSPC, noSpace}, {syscall.EDQUOT, noSpace}, {syscall.EFBIG, noSpace},
	{checkpoint.ErrBroken, "see to the disk, then start again: nothing is lost"},
}

const noSpace = "free space there (checkpoint.dir with its content, and engine.spill_dir, may move to a larger " +
	"disk), then " +
	"start again: nothing is lost, and the batch in progress is repeated"

// fileMismatch says what an operator can do about a file output that the checkpoint does not belong to.
const fileMismatch = "restore the newest copy of the checkpoint, or the output of the same time; or start once with " +
	"--reset-progress, which cuts the output back to the checkpoint: readers have then seen records that are " +
	"replaced"

// advice says what an operator can do when output, progress and checkpoint do not fit together.
var advice = []struct {
	is   error
	text string
}{
	{stream.ErrFenced,
		"another daemon with the same output topic was started; stop one of them, or give each its own topic"},
	{stream.ErrOutputNotEmpty,
		"give the new checkpoint a new output topic, or restore the checkpoint that belongs to this one, in place of " +
			"the new directory; " +
			"output.allow_existing: true goes on behind the records that are there"},
	{stream.ErrOutputDamaged,
		"restore the topics, or start once with --reset-progress to go on behind the checkpoint: lost output " +
			"stays lost, and records of the batch in progress may appear twice"},
	{stream.ErrOldCheckpoint,
		"restore the newest copy of the checkpoint; or create the output and its progress topic again, empty, and " +
			"start once with --reset-progress. Going on here would publish other records under numbers that are taken"},
	{stream.ErrDiverged,
		"this checkpoint is an old copy: another copy of it went on and published; restore the copy that was in " +
			"use last; or create the output and its progress topic again, empty, and start once with --reset-progress"},
	{stream.ErrMismatch,
		"restore the checkpoint that belongs to the output, give this one a new output topic, or start once with " +
			"--reset-progress to go on behind the checkpoint: records of the batch in progress may appear twice"},
	{publish.ErrProgressTopic,
		"set output.kafka.progress_topic to another one, which motifd topics create makes with one partition; if " +
			"this one was in use, start once with --reset-progress: records of the batch in progress may appear twice"},
	{kafka.ErrPartitions,
		"a match and its withdrawal share a partition only while the count stays: create the topic again with the " +
			"former count, or give a new checkpoint a new output topic; if partitions were added, " +
			"output.kafka.on_partition_change: keep uses the former ones only, and spread uses all of them from now " +
			"on; if the topic was created again with fewer, use spread together with --reset-progress"},
	{kafka.ErrNoTopic, "motifd topics create -c FILE creates what is missing"},
	{kafka.ErrTooLarge,
		"raise max.message.bytes of the topic (motifd topics check tells how far), or set output.echo_props: " +
			"false; the next start repeats the batch"},
	{publish.ErrNoTransactions,
		"use brokers that have transactions (a proxy may hide them), or set output.kafka.transactions: off: " +
			"records of the batch in progress may then appear again after a crash"},
	{kafka.ErrHanging,
		"start again if its producer is alive; else abort the transaction with kafka-transactions.sh find-hanging " +
			"and abort; output.kafka.transaction_timeout says how long a start waits (twice that, at least a minute)"},
	{publish.ErrTooSlow,
		"raise output.kafka.transaction_timeout (at most the brokers' transaction.max.timeout.ms), or lower " +
			"output.kafka.max_transaction_records; the next start repeats the batch"},
	{publish.ErrDowngrade,
		"see whether a proxy hides the brokers' transactions; to go on without them, set " +
			"output.kafka.transactions: off: records of the batch in progress may then appear again after a crash"},
	{source.ErrTruncated,
		"the effect of the lost records is in the graph, and its deltas are published. To be right again, start " +
			"with a new checkpoint and a new output; input.kafka.on_data_loss: continue goes on where the log was " +
			"cut, with the records that are there now; unclean.leader.election.enable: false on the topic prevents it"},
	{stream.ErrDataLoss, "input.kafka.on_data_loss: continue goes on with what is left; its deltas no longer add up " +
		"to the matches of the input"},
}

// damagedInput says what can be done about a *file.DamageError.
const damagedInput = "put a whole copy of the file in its place and start again: reading goes on where it stopped; " +
	"or leave out the rest " +
	"of the file, as one dead letter, with input.file.on_damage: skip (a file beyond input.limits.max_expansion: " +
	"raise that)"

// advise adds to an error what can be done about it: one of a disk, or of a Kafka end.
func (s *service) advise(err error) error {
	if err == nil {
		return nil
	}
	for _, a := range generalAdvice {
		if errors.Is(err, a.is) {
			return fmt.Errorf("%w\n  what to do: %s", err, a.text)
		}
	}
	if s.cfg.Output.Kafka == nil && errors.Is(err, stream.ErrMismatch) {
		return fmt.Errorf("%w\n  what to do: %s", err, fileMismatch)
	}
	if damaged := (*file.DamageError)(nil); errors.As(err, &damaged) && damaged.File != s.cfg.Graph.Bootstrap {
		return fmt.Errorf("%w\n  what to do: %s", err, damagedInput)
	}
	if s.cfg.Input.Kafka == nil && s.cfg.Output.Kafka == nil {
		return err
	}
	for _, a := range advice {
		if a.is == stream.ErrDataLoss && s.cfg.Input.Kafka == nil {
			continue // a file: the error says it all
		}
		if errors.Is(err, a.is) {
			return fmt.Errorf("%w\n  what to do: %s", err, a.text)
		}
	}
	return err
}
