// Package bench is motifd bench: it measures motifd on a case of package benchcase, alone or beside a peer.
//
// In: the flags (Command), and the program that is measured (Program), which is this process's own binary. Out: a
// table on standard output, and with --json a Report of every run. Each cell of the table is one motifd replay, or
// motifd match, in its own process; its figures are those of the process's --summary. A peer (RapidFlow) is a process
// of the same kind, of which the last lines of the output are read.
//
// What is found must agree among all runs, and with the peer: a difference is an error, after the table is printed.
// Measure owns the temporary directory that it makes, and removes it.
package bench
