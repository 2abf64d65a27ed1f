// Package passive finds faults in the recorded traffic of one connection: messages that break a
// rule of the protocol. It sends nothing and waits for nothing, so it judges every peer by the
// messages alone.
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
	// Fact is the place in the protocol that the rule follows from.
	Fact string `json:"fact"`
	// Seq is the number of the message, as [Checker.Feed] was told.
	Seq int64 `json:"seq"`
	// By is the end that broke the rule.
	By End `json:"by"`
}

// rule is what all faults of one kind share.
type rule struct {
	id   string
	tier Tier
	fact string // a section of the wire reference
}

var (
	notMessage    = rule{"message", Must, "6.1: each line is one JSON-RPC object, and agents print nothing else"}
	badID         = rule{"id", Must, "2.2.8: in version 2 the id of a request is a string or an integer"}
	usedTwice     = rule{"id-in-use", Must, "2.2.8: an id belongs to one request until it is answered"}
	unknownID     = rule{"unknown-id", Must, "3.3: a response answers a request of the peer"}
	answeredTwice = rule{"answered-twice", Must, "4.1: a request is answered exactly once"}
	unanswered    = rule{"unanswered", Notable, "1.5.3: nothing removes the duty to answer a request"}

	badSchema    = rule{"schema", Must, "2: the schema of the method"}
	noMethod     = rule{"method", Must, "2.2: names of extension methods begin with an underscore"}
	wrongEnd     = rule{"direction", Must, "1: each method has one direction"}
	wrongKind    = rule{"kind", Must, "1: a method is a request or a notification"}
	unadvertised = rule{"capability", Must, "1.1: an omitted capability is not supported"}

	badVersion   = rule{"version", Must, "5.1: an agent answers with a version that it supports"}
	beforeInit   = rule{"initialize-first", Must, "1.1: initialize is the first request"}
	initAgain    = rule{"initialize-again", Must, "1.3: initialize is repeated only before any other request, and with version 2 or newer"}
	unknown      = rule{"unknown-session", Must, "8.8: a session is started, opened or announced before it is named"}
	afterClose   = rule{"after-close", Must, "1.5.8: after the response to session/close nothing is sent for the session"}
	noState      = rule{"resume-state", Must, "1.3: a resumed session reports its state before the response"}
	notCancelled = rule{"cancel-answer", Must, "4.2: pending permission requests of a cancelled turn get the outcome cancelled"}
	cancelFailed = rule{"cancel-error", Must, "4.2: a cancelled turn ends with the stop reason cancelled, not with an error"}
	late         = rule{"late-update", Notable, "1.5.1, 1.5.2: the updates of a turn or a replay precede the response"}
	openCalls    = rule{"open-tool-call", Notable, "8.5: a tool call ends as completed or failed"}
)
