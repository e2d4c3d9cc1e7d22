// Package embedded is a single-node log in this process that speaks Kafka's protocol: for `motifd demo`, for trying
// motifd without a broker, and for tests. It is kfake (github.com/twmb/franz-go/pkg/kfake), a fake of a broker that was
// built for testing clients, with a repair: transactions that were open when the process died are ended before anybody
// can connect (transactions.go), committed if that had begun, else aborted, as KIP-98 has a coordinator do.
//
// In: a directory, or none for a log in memory, and the topics to create. Out: the address of a broker on the loopback
// interface. The Log owns the directory, which it locks, until Close. It proves nothing about Kafka: no replication, no
// access control, one process.
package embedded
