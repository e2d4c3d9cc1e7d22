package command

// Refused marks an error as the user's input being wrong, found before anything was started.
type Refused struct{ Err error }

// Refuse returns err, marked as Refused.
func Refuse(err error) error { return Refused{err} }

// Error implements error.
func (r Refused) Error() string { return r.Err.Error() }

// Unwrap returns the error that is marked.
func (r Refused) Unwrap() error { return r.Err }
