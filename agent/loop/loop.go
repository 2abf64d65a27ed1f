// Package loop is the loop of an agent around a language model: it sends the conversation to
// the model, shows what the model says, runs the tools that it calls, and sends their results,
// until the model calls no tool any more.
//
//	l := loop.New(model, nil)
//	a := kit.New(&kit.Options{Turn: l.Turn, Tools: ...})
//
// A [Model] has one method. Package loop/chat has one for servers of chat completions. [Stream]
// helps to write one over the library of another service; examples/adapters has two.
//
// # What it promises
//
//   - Each call of a tool has one result in the next request, in the order of the calls: also
//     after a turn that was cancelled, and after a crash. No call runs twice.
//   - What the model has said and what the tools have returned is stored before the next request.
//   - When a turn is cancelled, the request to the model ends with it.
//   - If a conversation has become too long for the model, it is summarized once, and the turn
//     goes on. What the person sees stays as it is.
package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"

	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
)

// A Model generates the next message of a conversation.
type Model interface {
	// Generate sends a request and yields the events of the answer. It ends after a Stop, after
	// an error, when ctx is done, and when the caller leaves the iteration; it must have
	// released the connection then. It is called for several sessions at once. An error is
	// returned to the client as that of any handler, so one that a person should read is an
	// *rpcerr.RequestError. It matches ErrTooLong if the request was too long for the model.
	Generate(ctx context.Context, req *Request) iter.Seq2[Event, error]
}

// A Request is a conversation that the model continues.
type Request struct {
	Model    string // as Session.Setting of the setting "model" has it; empty if there is none
	System   string
	Messages []Message
	Tools    []tools.Tool
	Setting  func(id string) string // of the session
}

// A Role is who has written a message.
type Role string

// The roles of messages.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Results   Role = "results" // those of the calls of the message before
)

// A Message is one of a conversation. It is stored as JSON.
type Message struct {
	Role    Role            `json:"role"`
	Parts   []tools.Part    `json:"parts,omitempty"`   // of a user or the assistant
	Calls   []Call          `json:"calls,omitempty"`   // of the assistant
	Results []Result        `json:"results,omitempty"` // one for each call, in their order
	Opaque  json.RawMessage `json:"opaque,omitempty"`  // what the model wants to have back with this message
}

// A Call is a tool call of the model.
type Call struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"` // a JSON object; a text if the model has sent something else
}

// A Result is that of a call.
type Result struct {
	ID     string       `json:"id"` // that of the call
	Name   string       `json:"name"`
	Parts  []tools.Part `json:"parts"`
	Failed bool         `json:"failed,omitempty"`
}

// An Event is a part of an answer: a Text, a Thought, a CallDelta, a Usage or a Stop.
type Event interface{ event() }

// A Text is a part of what the model says. It may end inside a rune.
type Text string

// A Thought is a part of what the model thinks, for people to read.
type Thought string

// A CallDelta is a part of a tool call. The deltas of an answer with one Index are one call: its ID
// and Name are those of the first delta that has them, and its input is all inputs joined.
type CallDelta struct {
	Index    int
	ID, Name string
	Input    string
}

// Usage tells how many tokens the request and its answer have used. A Size of 0 means that
// the size of the context window is not known.
type Usage struct{ Used, Size uint64 }

// A Stop ends an answer.
type Stop struct {
	Reason StopReason
	Opaque json.RawMessage // for Message.Opaque
}

// A StopReason says why an answer has ended.
type StopReason string

// The reasons.
const (
	Done    StopReason = ""        // the model has said all, or waits for results
	Length  StopReason = "length"  // no more tokens are left for the answer
	Refused StopReason = "refused" // by the model or a filter
)

func (Text) event()      {}
func (Thought) event()   {}
func (CallDelta) event() {}
func (Usage) event()     {}
func (Stop) event()      {}

// Options configure a Loop.
type Options struct {
	// System returns the system prompt of a session, for each request. Nil means none.
	System func(s *kit.Session) string

	// MaxRequests is how many requests a turn may send to the model; then it ends with the stop
	// reason max_turn_requests. Zero stands for 100.
	MaxRequests int
}

// A Loop makes turns with a model. It is safe for concurrent use.
type Loop struct {
	model Model
	opts  Options
}

// New returns a loop around a model.
func New(model Model, opts *Options) *Loop {
	l := &Loop{model: model}
	if opts != nil {
		l.opts = *opts
	}
	l.opts.MaxRequests = cmp.Or(l.opts.MaxRequests, 100)
	return l
}
