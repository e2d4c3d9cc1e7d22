// Package payments generates streams of payments in which fraud is planted, and the queries that find it: a Generator
// an endless one for the demo, a Synth a finite one with amounts and times. Both draw what they plant as a structure
// (link) of accounts.
//
// A Synth is for patterns with conditions. It plants the eight typologies of AMLworld (Typology), and lists each Case
// with its payments. Some cases are too slow for the queries, or move sums that they do not look for.
//
// In the stream of a Generator, accounts pay one another (TRANSFER), top up wallets (TOP_UP) and are paid from wallets
// (WITHDRAWAL). Among a background of random payments the generator plants what a bank looks for: rings of transfers,
// many accounts that top up one wallet (fan-in), and a wallet that is emptied to many accounts (fan-out). The
// background forgets: a payment is deleted when enough later ones have been made, so that the size of the graph stays
// bounded.
//
// Labels keep the number of fans small: n top-ups of one wallet hold n choose 5 fan-ins, but by chance a wallet has
// few at a time. A wallet that a plant uses gets no background payments until the plant's own are gone.
//
// In: Options or SynthOptions with a seed. Out: Events or updates, which the caller owns. An Event says which plant it
// completes or breaks, and a Case whether it fits its query, so that a test knows what must be found. The package does
// no I/O, reads no clock and starts no goroutine.
package payments
