// Command bench does the same work on this SDK and on others, side by side, and
// prints one table. Run it in its own folder:
//
//	go run .                        everything; writes RESULTS.md
//	go run . -quick                 everything with small counts, once; floors are not judged
//	go run . -work updates,rtt64 -contender acpkit,coder -mode stdio -n 3
//
// A run builds one program for each contender (peers/..., and ts/peer.mjs with
// node) and starts a fresh process for every measurement. In every round each
// contender has its turn, beginning with another one each time, so that a
// machine that becomes slower or faster does so for all. The tables show
// medians; a ratio is the median of the rounds' ratios.
//
// Mode "pair" has both ends in one process, over stream.Pipe (acpkit), io.Pipe
// (the other Go programs, acpkit-io and the raw floor) or TransformStreams (ts).
// Mode "stdio" has them in two processes, "ws" and "http" over
// the loopback interface. acpkit-turn prompts with Session and
// Turn instead of the plain call, and acpkit-v2 speaks version 2 of the protocol.
package main
