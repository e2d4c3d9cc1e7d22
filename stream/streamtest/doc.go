// Package streamtest holds what the tests of every Source, Sink and Store share: one conformance suite for sources
// (TestSource) and one for sinks (TestSink), in-memory ends, and faulty ends that fail at a chosen call.
package streamtest
