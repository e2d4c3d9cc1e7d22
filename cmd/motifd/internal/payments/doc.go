// Package payments generates a stream of payments in which fraud is planted, and the queries that find it.
//
// Accounts pay one another (TRANSFER), top up wallets (TOP_UP) and are paid from wallets (WITHDRAWAL). Among a
// background of random payments the generator plants what a bank looks for: rings of transfers, many accounts that top
// up one wallet (fan-in), and a wallet that is emptied to many accounts (fan-out). The background forgets: a payment is
// deleted when enough later ones have been made, so that the size of the graph stays bounded.
//
// Labels keep the number of fans small: n top-ups of one wallet hold n choose 5 fan-ins, but by chance a wallet has few
// at a time. A wallet that a plant uses gets no background payments until the plant's own are gone.
//
// In: Options with a seed. Out: Events, which the caller owns; an Event says which plant it completes or breaks, so
// that a test knows what must be found. The package does no I/O, reads no clock and starts no goroutine.
package payments
