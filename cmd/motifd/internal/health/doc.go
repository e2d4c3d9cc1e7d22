// Package health says whether the daemon takes input, and why it does not.
//
// In: the pipeline, the operations on the brokers that are being tried again (Waits), and the disk use of the
// checkpoint. Out: an error of type NotReady, with a text for operators and a class that anybody may know; and lines in
// the log for a batch, a query change or a wait for the disk that lasts. It changes nothing.
package health
