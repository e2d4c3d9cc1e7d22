// Package kafkatest holds the helpers that the tests of the packages below stream/kafka share: an embedded log or a
// broker to run against (Cluster), records to publish, other clients that write and read (kafka-go alone, franz-go),
// and faults.
package kafkatest
