// Package encode turns the events of one batch after the other into chunks of output records, on several goroutines.
//
// In: the events of a search, in order, whose rows belong to the search (Batch.Emit), and a function that appends the
// records of some rows (Options.Append). Out: chunks of records in the same order (Options.Send), each about as large
// as one write to the output. When Batch.Finish returns, all that was emitted is encoded and sent, or given up, and no
// goroutine is left: nothing that a record shows can change under an encoder (DESIGN A12).
//
// A Stage owns the chunks, which come back with Free; a Batch owns the copies of rows that wait for an encoder.
//
// Calls go one way, file by file: batch.go takes events, gather.go cuts them into tasks, workers.go runs tasks on
// goroutines, task.go encodes one, chunk.go encodes where it is called and sends, stage.go appends records.
//
// What is not obvious:
//
//   - With one thread, events are encoded where they are emitted. With more, their rows are copied, as ids, into tasks
//     of about a chunk of records, of many groups or a part of one.
//   - Only the goroutine that emits sends chunks, task by task in the order in which it filled them; encoders wait for
//     nobody. So an output that is slow stops the goroutine that emits, and that the encoders.
package encode
