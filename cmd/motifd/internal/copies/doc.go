// Package copies gives other processes copies of a checkpoint that a running daemon has open.
//
// In: the store of the daemon (Serve), and requests on a socket in its directory. Out: a copy below that directory for
// as long as the connection lasts, or a backup. Commands use Open and Backup, which also work where no daemon runs. The
// connection owns a copy: its end removes it; Serve ends its goroutines when it is stopped.
package copies
