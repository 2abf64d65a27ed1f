// Package passive finds faults in the recorded traffic of one connection: messages that break a
// rule of the protocol. Experimental: it may change in any release. It sends nothing and waits
// for nothing, so it judges every peer by the messages alone.
//
// The rules of the version that initialize has negotiated apply. What version 1 and version 2 say
// in the same way is one rule. A rule that must be kept has the tier [Must]. What the protocol
// allows, or does not say, and what is mostly a defect has the tier [Notable].
package passive

// End is an end of a connection.
type End string

// The ends of a connection.
const (
	Client End = "client"
	Agent  End = "agent"
)

// Tier says how serious a fault is.
type Tier string

// The values of [Tier].
const (
	Must    Tier = "must"
	Notable Tier = "notable"
)

// Fault is a message that breaks a rule.
type Fault struct {
	// Rule is the id of the rule, such as "schema".
	Rule string `json:"rule"`
	Tier Tier   `json:"tier"`
	// Text says in one sentence what is wrong. It contains names of the message, quoted.
	Text string `json:"text"`
	// Fact says what the protocol demands, with the page of the specification that says it.
	Fact string `json:"fact"`
	// Seq is the number of the message, as [Checker.Feed] was told.
	Seq int64 `json:"seq"`
	// By is the end that broke the rule.
	By End `json:"by"`
	// Kind is the same for faults that are one: of the same rule and, by the schema, of the same member of
	// the same method.
	Kind string `json:"-"`
}

// rule is what all faults of one kind share.
type rule struct {
	id   string
	tier Tier
	fact string // what the protocol says
	page string // of the specification, that says it
}

var (
	notMessage    = rule{"message", Must, "Each line is one JSON-RPC object, and agents print nothing else.", "transports"}
	badEncoding   = rule{"utf8", Must, "All messages are UTF-8.", "transports"}
	badID         = rule{"id", Must, "In version 2 the id of a request is a string or an integer.", "overview"}
	usedTwice     = rule{"id-in-use", Must, "An id belongs to one request until it is answered.", "overview"}
	unknownID     = rule{"unknown-id", Must, "A response answers a request of the peer.", "overview"}
	answeredTwice = rule{"answered-twice", Must, "A request is answered exactly once.", "overview"}
	unanswered    = rule{"unanswered", Notable, "Nothing removes the duty to answer a request, not even its cancellation.", "cancellation"}

	badSchema    = rule{"schema", Must, "Each message is as the schema of its method says.", "schema"}
	forgiven     = rule{"schema-forgiven", Notable, "Readers take a member that breaks the schema as absent where the schema says so, and leave out items: what was meant is lost.", "schema"}
	unknownWord  = rule{"unknown-word", Notable, "Words that the protocol does not have begin with an underscore: it may use the others later.", "extensibility"}
	relativePath = rule{"relative-path", Must, "All paths are absolute.", "overview#argument-requirements"}
	noMethod     = rule{"method", Must, "Names of extension methods begin with an underscore.", "extensibility"}
	wrongEnd     = rule{"direction", Must, "Each method has one direction.", "overview"}
	wrongKind    = rule{"kind", Must, "A method is a request or a notification.", "overview"}
	unadvertised = rule{"capability", Must, "What a peer has not advertised it does not support.", "initialization"}

	badVersion   = rule{"version", Must, "An agent answers with a version that it supports.", "initialization"}
	beforeInit   = rule{"initialize-first", Must, "initialize is the first request.", "initialization"}
	initAgain    = rule{"initialize-again", Must, "In version 2 initialize is repeated only before any other request, and with version 2 or newer.", "initialization"}
	unknown      = rule{"unknown-session", Must, "A session is started, opened or announced before it is named.", "session-setup"}
	afterClose   = rule{"after-close", Must, "In version 2 nothing is sent for a session after the response to session/close.", "session-setup"}
	noState      = rule{"resume-state", Must, "A resumed session reports its state before the response.", "session-setup"}
	replay       = rule{"replay-complete", Must, "replay_complete comes once for each session/resume with replayFrom, and for each session that the history announces: behind its last replayed update, before the response, and at no other time.", "session-setup"}
	badCursor    = rule{"cursor", Must, "The first update of a cursor has its anchor, which never changes, and session/fork takes a cursor that can be forked.", "session-setup"}
	badSystem    = rule{"system-prompt", Must, "A system prompt has text, and no block of another type.", "session-setup"}
	badSuggest   = rule{"suggestion", Must, "A suggestion is a prompt that can be sent: it is not blank, and has no content that the agent does not take in prompts.", "prompt-turn"}
	badStatus    = rule{"auth-status", Notable, "An agent that advertises auth.status tells the state of the sign-in when it has changed, and at no other time.", "authentication"}
	badSkill     = rule{"skill", Must, "An agent lists skills if it takes them in prompts, where without inline a prompt begins with one.", "slash-commands"}
	notCancelled = rule{"cancel-answer", Must, "Permission requests that are pending when their turn is cancelled get the outcome cancelled.", "tool-calls"}
	cancelFailed = rule{"cancel-error", Must, "A cancelled turn ends with the stop reason cancelled, not with an error.", "prompt-turn#cancellation"}
	late         = rule{"late-update", Notable, "The updates of a turn or a replay, and what it asks the client for, precede the response.", "prompt-turn"}
	openCalls    = rule{"open-tool-call", Notable, "A tool call ends as completed or failed.", "tool-calls"}
	uncreated    = rule{"tool-call-first", Notable, "A tool call begins with tool_call, or with a permission request.", "tool-calls"}
	again        = rule{"tool-call-again", Notable, "A tool call is created once in its turn, and a status that ends it is the last one.", "tool-calls"}

	badMode       = rule{"mode", Must, "The mode of a session is one of those that are offered.", "session-modes"}
	badValue      = rule{"option-value", Must, "The value of an option is one of those that are offered.", "session-config-options"}
	sameOption    = rule{"option-id", Must, "The ids of the options of a session differ.", "session-config-options"}
	badCommand    = rule{"command", Notable, "The slash commands of a session have names of their own that do not begin with a slash, and have no space in version 2.", "slash-commands"}
	badTerminal   = rule{"terminal", Must, "A terminal is used by its session, from the response to terminal/create to terminal/release.", "terminals"}
	badBackground = rule{"background", Must, "An agent that reports background work does so in each state of the session, and announces what it lists before.", "prompt-turn"}
	formerMessage = rule{"message-id-again", Notable, "What a turn says belongs to messages whose ids no earlier turn had.", "prompt-turn"}
)
