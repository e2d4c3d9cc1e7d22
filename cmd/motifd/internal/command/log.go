package command

import (
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"
)

// NewLogger returns the logger of a level and format; empty ones stand for info and auto.
func NewLogger(w io.Writer, level, format string) zerolog.Logger {
	l, err := zerolog.ParseLevel(level)
	if err != nil || level == "" {
		l = zerolog.InfoLevel
	}
	if format == "console" || format != "json" && IsTerminal(w) {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.TimeOnly, NoColor: !IsTerminal(w)}
	}
	return zerolog.New(w).Level(l).With().Timestamp().Logger()
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && f.Name() != os.DevNull
}
