package matcher

import "io"

// TempFile is a temporary file for matches that do not fit in memory. Close drops it with what it holds.
type TempFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// TempFiles opens temporary files. The caller of a backend gives it, since nothing below package matcher opens a file
// itself. Several goroutines may call it at once.
type TempFiles func() (TempFile, error)
