// Package loop implements the loop of an agent around a language model. Experimental: it may change in
// any release. It sends the conversation to the model, shows the answer, runs the tools that the model
// calls, and sends their results, until the model calls no more tools.
//
//	l := loop.New(model, nil)
//	a := kit.New(&kit.Options{Turn: l.Turn, SystemPrompts: loop.SystemPrompts(), Tools: ...})
//
// A [Model] has one method. Package loop/chat implements it for servers of chat completions.
// [Stream] helps to implement it with the client library of another service; examples/adapters has
// two.
//
// # What it promises
//
//   - Each tool call has one result in the next request, in the order of the calls, also after a
//     cancelled turn and after a crash. No call runs twice.
//   - The answers of the model and the results of the tools are stored before the next request.
//   - When a turn is cancelled, the request to the model ends with it.
//   - If a conversation has become too long for the model, it is summarized once, the person is told, and
//     the turn continues with the whole prompt. What the person sees does not change.
//   - No answer ends a turn without a word: an empty one is asked for again once, and how an answer
//     has ended is told.
package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
)

// A Model generates the next message of a conversation.
type Model interface {
	// Generate sends a request and yields the events of the answer. It ends after a Stop, after an
	// error, when ctx is done, and when the caller ends the iteration; before it ends, it must
	// release the connection. It is called for several sessions at once. An error is sent to the
	// client like that of any handler, so an error that a person should read is a record of package
	// rpcerr or rpcerr/kind. If the request was too long for the model, the error wraps ErrTooLong.
	Generate(ctx context.Context, req *Request) iter.Seq2[Event, error]
}

// A Request is a conversation for which the model generates the next message.
type Request struct {
	Model    string // value of the setting "model" of the session; empty if there is none
	System   string
	Messages []Message
	Tools    []tools.Tool
	Setting  func(id string) string // returns the value of a setting of the session
}

// A Role is the author of a message.
type Role string

// The roles of messages.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Results   Role = "results" // the results of the calls in the previous message
)

// A Message is one message of a conversation. It is stored as JSON.
type Message struct {
	Role    Role            `json:"role"`
	Parts   []tools.Part    `json:"parts,omitempty"`   // of a user or the assistant
	Calls   []Call          `json:"calls,omitempty"`   // of the assistant
	Results []Result        `json:"results,omitempty"` // one for each call, in their order
	Opaque  json.RawMessage `json:"opaque,omitempty"`  // data that the model needs back with this message
	Began   string          `json:"began,omitempty"`   // id of a call that has begun to run; no Model gets such a message
}

// A Call is a tool call of the model.
type Call struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"` // a JSON object, or a string if the model sent something else
}

// A Result is the result of a tool call.
type Result struct {
	ID     string       `json:"id"` // the id of the call
	Name   string       `json:"name"`
	Parts  []tools.Part `json:"parts"`
	Failed bool         `json:"failed,omitempty"`
}

// An Event is a part of an answer: a Text, a Thought, a CallDelta, a Usage, a Notice or a Stop.
type Event interface{ event() }

// A Text is a part of the model's answer. It may end inside a rune.
type Text string

// A Thought is a part of the model's reasoning, for people to read.
type Thought string

// A Notice is a sentence for the person that is not part of the answer, such as that images are left
// out or that the model waits.
type Notice string

// A CallDelta is a part of a tool call. The deltas of an answer with the same Index form one call.
// Its ID and Name are the first ones that are not empty, and its input is the concatenation of all
// inputs.
type CallDelta struct {
	Index    int
	ID, Name string
	Input    string
}

// Usage is what one request and its answer have used.
type Usage struct {
	Used, Size uint64     // the tokens in the context, and the size of the context window; 0 means not known
	Tokens     *acp.Usage // for the response to the prompt; nil means not known
	Cost       *acp.Cost  // of this request alone; nil means not known
}

// A Stop ends an answer.
type Stop struct {
	Reason StopReason
	Text   string          // the word of the service for the reason; a person reads it if the reason is not Done or ToolCalls
	Opaque json.RawMessage // the Opaque of the Message
}

// A StopReason tells why an answer has ended.
type StopReason string

// The reasons. The calls of an answer run after Done, ToolCalls and Length only.
const (
	Done      StopReason = ""         // the answer is complete
	ToolCalls StopReason = "calls"    // the model waits for the results of its calls
	Length    StopReason = "length"   // the limit of tokens for the answer is reached
	Refused   StopReason = "refused"  // the model refused to answer
	Filtered  StopReason = "filtered" // a filter has ended the answer
	Failed    StopReason = "failed"   // the service has ended the answer in another way
)

func (Text) event()      {}
func (Thought) event()   {}
func (Notice) event()    {}
func (CallDelta) event() {}
func (Usage) event()     {}
func (Stop) event()      {}

// Options configure a Loop.
type Options struct {
	// System returns the agent's own system prompt for a session. It is called for each request. Nil
	// means that there is none. If the client has sent a system prompt, that is appended or takes its
	// place.
	System func(s *kit.Session) string

	// MaxRequests is the number of requests to the model that a turn may send. After that the turn
	// ends with the stop reason max_turn_requests. Zero means 100.
	MaxRequests int

	// MaxAnswer is the maximum size of an answer in bytes: its text, thoughts and calls together.
	// Zero means 16 MiB. An answer may have 128 calls.
	MaxAnswer int
}

// SystemPrompts returns the modes of the client's system prompt that a Loop applies: all of them.
// Use it as kit.Options.SystemPrompts.
func SystemPrompts() []acp.SystemPromptMode {
	return []acp.SystemPromptMode{acp.SystemPromptModeAppend, acp.SystemPromptModeOverride}
}

// A Loop makes turns with a model. It is safe for concurrent use.
type Loop struct {
	model Model
	opts  Options
	kept  sync.Map // of *memory, by *kit.Session
}

// New returns a loop for the model.
func New(model Model, opts *Options) *Loop {
	l := &Loop{model: model}
	if opts != nil {
		l.opts = *opts
	}
	l.opts.MaxRequests = cmp.Or(l.opts.MaxRequests, 100)
	l.opts.MaxAnswer = cmp.Or(l.opts.MaxAnswer, 16<<20)
	return l
}
