// Package demo is motifd demo: it puts generated payments (package payments) through the daemon, and checks what comes
// out.
//
// In: the flags (Command), and the daemon as a function (Program.Daemon), since the program that embeds this package
// puts the daemon together. Out: alerts as they come, one case from the alert to its withdrawal, and a table. Payments
// and alerts go through an embedded log, which Play opens and closes, as it does the directory of the checkpoint.
//
// Each alert is compared with what was planted, and with an oracle: the payments themselves, applied up to the batch of
// the alert. A planted structure that was missed and an alert that the oracle denies are errors, after the table is
// printed.
package demo
