// Package timeline notes when the parts of a replay worked on which batch, and writes that for a trace viewer.
//
// In: spans and phases from the pipeline (stream.Observer), the engine (matcher.EngineOptions.Phase) and the GPU
// backend (Device). Out: a file in the Trace Event Format, which chrome://tracing and Perfetto open, and a Summary of
// how much of each stage overlapped with searches. The Timeline owns the file that it is given, and closes it.
package timeline
