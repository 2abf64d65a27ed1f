package main

import (
	"fmt"
	"io"
)

// stopped says why a floor was missed when it last was, for those that the
// measurement leaves near their edge. It is printed only where one is missed.
var stopped = map[string]string{
	"mixed, two processes: times as fast as ts":                   collector,
	"curve prompts, one process: last point against the second":   switches,
	"curve prompts, two processes: last point against the second": switches,

	"updates-synced, one process: time of version 2 in that of version 1":   messageID,
	"updates-synced, two processes: time of version 2 in that of version 1": messageID,
}

const collector = `the client is the slower of the two processes, and a quarter of its CPU time is Go's
garbage collector. An update of this mix takes about 2 KB, half of it the line and half the strings that the handler gets,
and the collector runs whenever 4 MB are gone, since so small a program has next to no live heap. With GOGC=800 in the client
the same work takes 22 % less time on the clock, which is beyond the floor; a program with some 30 MB of live heap of its own
gets that by default. Tried without an effect beyond the noise of 1 to 3 %: unescaping in one pass, cutting lines out of shared
blocks instead of copying them, a smaller backlog. Using the memory of lines again saves 18 % of the bytes but 1 to 5 % of
the time, and whoever wraps a stream could then read what has been overwritten.
`

const switches = `a thousand prompts at once are a thousand goroutines of the agent that take turns
in sending a few updates each. What they cost more is theirs: stacks that are out of the cache at every turn and that every
garbage collection looks through. The sessions themselves cost little: see the curve of one prompt whose updates go to as many
sessions.
`

const messageID = `a chunk of version 2 must name its message, so each update has a member more,
messageId, which is encoded, read and checked. With the same member in the updates of version 1, where it is optional, version 2
takes 0.93 to 0.98 times as long.
`

// explain writes what stopped the floors that were missed.
func (r Results) explain(w io.Writer) {
	begun := false
	for _, f := range r.floors() {
		if !f.Measured || f.Met || stopped[f.What] == "" {
			continue
		}
		if !begun {
			fmt.Fprint(w, "## What stopped the missed ones\n\n")
			begun = true
		}
		fmt.Fprintf(w, "**%s**: %s\n", f.What, stopped[f.What])
	}
}
