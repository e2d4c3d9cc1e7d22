// Package encode turns the events of each batch into chunks of output records, on several goroutines.
//
// In: the events of a search, in order; their rows belong to the search (Batch.Emit). A function that appends the
// records of some rows (Options.Append). Out: chunks of records in the same order (Options.Send), each about as large
// as one write to the output. When Batch.Finish returns, everything emitted is encoded and sent, or dropped, and all
// encoders have ended. So no data of a record can change while it is encoded (DESIGN A12).
//
// A Stage owns the chunks, and takes them back with Free. A Batch owns the copies of rows that wait for an encoder.
//
// Calls go one way, file by file: batch.go takes events, gather.go cuts them into tasks, workers.go runs tasks on
// goroutines, task.go encodes one, chunk.go encodes where it is called and sends, stage.go appends records.
//
// What is not obvious:
//
//   - With one thread, the emitting goroutine encodes the events. With more, it copies their rows, as ids, into tasks
//     of about a chunk of records. A task holds many groups or a part of one.
//   - Only the emitting goroutine sends chunks, task by task in the order in which it filled them. Encoders never block
//     on each other or on the output. A slow output blocks the emitting goroutine, and the encoders run out of tasks.
package encode
