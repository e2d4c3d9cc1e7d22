package kafka

// Names of the record headers. Their values are text, so that any tool shows them. (stream, batch, index) names a
// record of the main output for good (DESIGN S7); in the dead-letter topic the index counts the batch's dead letters.
const (
	HeaderStream   = "motifd-stream"
	HeaderBatch    = "motifd-batch"
	HeaderIndex    = "motifd-index"
	HeaderQuery    = "motifd-query"
	HeaderSign     = "motifd-sign"     // "+", "-", "~" or "!"
	HeaderSnapshot = "motifd-snapshot" // "true" on records of a registration, else absent
)
