// Package admin creates and describes topics.
//
// In: how to reach the brokers, and names, partition counts and settings of topics. Out: topics that exist and that a
// broker shows, or what is known of them and of a broker's settings. Each call opens its own connections and closes
// them; it waits for the brokers until its context is done.
//
// Sources: the Kafka protocol guide (CreateTopics, Metadata, DescribeConfigs).
package admin
