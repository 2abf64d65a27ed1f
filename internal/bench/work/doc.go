// Package work is what all contenders of the benchmark have in common: the
// messages, the tasks an agent carries out, the clock, and the counters. A
// contender adds only the calls into its own library, so that differences in
// the results come from the libraries.
//
// A Go contender is a program (peers/...) that calls Main with its Contender;
// the TypeScript contender (ts/peer.mjs) does the same by hand. Every program
// understands the same flags and prints one Result as JSON:
//
//	peer -mode agent                       an agent over stdin and stdout
//	peer -mode stdio -work updates -n 1000 a client that starts such an agent
//	peer -mode pair  -work updates -n 1000 both ends in one process
//	peer -mode idle  -n 100                100 idle connections, both ends
package work
