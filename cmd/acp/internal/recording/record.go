// Package recording reads and writes recordings of the traffic between a client and an agent,
// and knows the folder that they lie in.
//
// A recording is a text file. Its first line is a [Head], every other line a [Record], each as
// a JSON object. What is written stays readable if the writer is killed: only the last line
// can be torn.
package recording

import (
	"encoding/json"
	"time"

	"github.com/acpkit/go-sdk/stream"
)

// Format is the version of the format that this package writes, and the newest that it reads.
const Format = 1

// Head is the first line of a recording.
type Head struct {
	ACP     string    `json:"acp"`     // "recording"
	Format  int       `json:"format"`  // see [Format]
	Version string    `json:"version"` // that of the program that wrote the recording
	Command []string  `json:"command"` // the agent, or the flags for network peers; with masked credentials
	Started time.Time `json:"started"`
}

// headBegin is how every recording begins.
const headBegin = `{"acp":"recording",`

// maxMessage is the longest message that is recorded. Of a longer one the record has the size.
const maxMessage = stream.DefaultMaxMessage

// Dir names the peer that sent a message.
type Dir string

// The two peers of a connection.
const (
	Client Dir = "client"
	Agent  Dir = "agent"
)

// Kind says what a [Record] is.
type Kind string

// The kinds of records.
const (
	Request      Kind = "request"
	Response     Kind = "response" // with a result or an error
	Notification Kind = "notification"
	Invalid      Kind = "invalid" // a line that is no message of JSON-RPC
	Gap          Kind = "gap"     // records were dropped here, because the disk was too slow
	End          Kind = "end"     // the peer sends nothing more on the connection
	Stderr       Kind = "stderr"  // a line of the peer's standard error
	Signal       Kind = "signal"  // one was sent to the agent, through the program that records
	Exit         Kind = "exit"    // the process of the peer has ended
	Cut          Kind = "cut"     // the recording ends before the traffic; it has no Dir
)

// Record is one line of a recording after its head.
type Record struct {
	Seq  uint64    `json:"seq"` // counts from 1
	Time time.Time `json:"time"`
	Dir  Dir       `json:"dir"`  // who sent it
	Conn int       `json:"conn"` // counts from 1; always 1 for an agent that was started

	// Session is the member sessionId of the params or of the result. It is empty if there is
	// none: that of a response is the session of its request.
	Session string          `json:"session,omitempty"`
	Kind    Kind            `json:"kind"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`

	// Raw is the message as it was sent, without white space around it. Its line feeds, which
	// only network peers send, are spaces. It is nil if the record has Line or Size.
	Raw json.RawMessage `json:"raw,omitempty"`
	// Line is a line that is no message or of standard error, with U+FFFD in place of what is not
	// UTF-8. Of a Signal it is the name, of an Exit how the process ended, such as "exit status 1", of
	// an End and a Cut the reason, if that is known.
	Line string `json:"line,omitempty"`
	// Masked reports that Raw or Line is not what was sent: credentials are masked, or long base64
	// is a digest.
	Masked bool `json:"masked,omitempty"`
	// Size is the length in bytes of a message that is not in the recording, because it was too
	// long or the disk too slow. Kind, ID, Method and Session come from its beginning.
	Size int64 `json:"size,omitempty"`

	// Dropped is how many messages a Gap or a Cut stands for, and Bytes how long they were. Those of a
	// Gap were sent by Dir. The number of a Cut is 0 if it is not known.
	Dropped int64 `json:"dropped,omitempty"`
	Bytes   int64 `json:"bytes,omitempty"`

	// Offset is where the line begins in the file, and Length how long it is. The Reader sets both.
	Offset int64 `json:"-"`
	Length int   `json:"-"`
}
