// Package kafka is the client that sources and sinks share: its options, connections and retries, the fetch and
// metadata requests, the names of record headers, and the hash that chooses a partition. The packages below it do the
// work: source reads, publish writes, admin creates and describes topics, embedded is a single-node log in this
// process, wire and recordbatch are the protocol's encoding.
//
// In: options with broker addresses, credentials and callbacks (ClientOptions). Out: a Client, with errors that are
// retried until a context is done, or are Fatal. The maker of a Client closes it.
//
// What is not obvious:
//
//   - github.com/segmentio/kafka-go finds leaders, keeps connections and negotiates versions. Record batches are
//     decoded and encoded here (package recordbatch), because its decoder loses the extent of a batch (and with it the
//     way past compacted and aborted ones), puts no bound on what a compressed batch expands to, and hides a damaged
//     batch behind an intact one, and because its encoder cannot set producer id, epoch and sequence number. Fetch
//     requests hook into its transport as a protocol.RawExchanger.
//   - A partition has one request in flight, so that a retry cannot overtake a later batch.
//
// Sources: the Kafka protocol guide (kafka.apache.org/protocol), KIP-98 for aborted transactions in fetch responses.
package kafka
