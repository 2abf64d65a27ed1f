package check

import "strings"

// advice says what to change if a check fails, by the beginning of its id. The longest one counts.
var advice = map[string]string{
	"ACP-TRANSPORT-001": "Print everything that is no message to standard error, also what libraries and package managers print.",
	"ACP-TRANSPORT-002": "Encode what is written to standard output as UTF-8, whatever the locale is, and replace what cannot be encoded.",
	"ACP-SHUTDOWN":      "End the program when reading standard input returns the end of the file.",
	"AK-NULL":           "Read null as if the member were not there, for each member that the schema lets be null.",
	"AK-START":          "End the turns, and the processes that were started, when standard input ends; wait for each process.",
	"ACP-INIT":          "Answer initialize with the newest version that is spoken and is not above the one that was asked for, with members of the types of the schema.",
	"AK-INIT":           "Keep the state of the connection apart from that of its messages: a request that is wrong changes nothing.",
	"ACP-JSONRPC-001":   "Copy the id of the request into its response, and send a response for nothing else.",
	"ACP-JSONRPC-003":   "Answer only what has the member id.",
	"ACP-JSONRPC-004":   "Answer methods that are not known with the error -32601.",
	"ACP-JSONRPC":       "Write jsonrpc, id, and one of result and error.",
	"ACP-EXT":           "Answer methods that begin with an underscore like others: with -32601 if they are not known.",
	"AK-EXT":            "Answer methods that begin with an underscore like others: with -32601 if they are not known.",
	"AK-PARSE":          "Catch the error of the JSON parser for each line, answer it with -32700 and the id null, and read on.",
	"AK-RPC":            "Treat each line by itself: answer a request in any case, and nothing else, and read on whatever the line is.",
	"AK-ID":             "Keep the id of a request as the JSON that was read, compare ids as such, and keep those of each direction apart.",
	"ACP-SCHEMA":        "Generate types from the schema of the version, or validate messages by it in tests.",
	"ACP-ENUM":          "Use a word of the schema, or begin the word with an underscore.",
	"AK-PATH":           "Make paths absolute, from the folder of the session, before they are sent.",
	"AK-METHOD":         "Compare the method, its direction and whether it is a request with the tables of the specification.",
	"AK-CAPABILITY":     "Look at the capabilities of initialize before each use of them, and do without what is missing.",
	"ACP-CLIENTCAP":     "Look at the capabilities of initialize before each use of them, and do without what is missing.",
	"ACP-PROMPT-002":    "Name the session that the message is about by the id that session/new has returned.",
	"AK-ORDER":          "Send the updates of a turn in one order, through one queue, before the end of the turn is sent.",
	"AK-MESSAGE":        "Choose a message id when a message begins, and use it for all of its pieces.",
	"ACP-CANCEL":        "Stop the work at session/cancel, send what is left, and then end the turn with the stop reason cancelled.",
	"AK-CANCEL":         "Keep a mark of cancellation for each turn of each session: set it at session/cancel if a turn runs, and end that turn as cancelled.",
	"ACP-SESSION":       "Make a new random id for each session.",
	"AK-SESSION":        "Keep the state of each session apart, and its turns beside those of others.",
	"AK-MCP":            "Compare the names and the types of mcpServers before a session is started.",
	"ACP-ADDDIRS":       "Take additionalDirectories, or do not advertise them.",
	"AK-ADDDIRS":        "Take the additional directories of the request with which a session is opened, and forget the former ones.",
	"ACP-LIST":          "Compare the folder of each session with cwd as a whole path.",
	"AK-LIST":           "Order sessions in a fixed way, and make the cursor name the last one that was sent.",
	"ACP-DELETE":        "Remove the session from the store, and succeed if it is not there.",
	"AK-DELETE":         "Remove this session alone from the store, and answer what is in flight for it.",
	"AK-LOAD":           "Store each update of a session when it is sent, and send them again, all of them once, in their order.",
	"ACP-LOAD":          "Wait until the history is written before the response is sent.",
	"ACP-RESUME":        "Send the history for session/load, or replayFrom, alone, with the message ids that were used first.",
	"AK-RESUME":         "Open the stored session, or fail.",
	"AK-REPLAY":         "Send replay_complete behind the last update of a replay that was asked for, and in each session that it announces, once.",
	"ACP-CLOSE":         "Treat session/close as session/cancel that also frees the session.",
	"AK-CLOSE":          "Free this session alone, and keep what is stored of it.",
	"ACP-PROMPT":        "Take text and links in each prompt, and end each turn with a stop reason of the protocol.",
	"AK-PROMPT":         "Answer each prompt: with the end of its turn, or with an error.",
	"ACP-PROMPTCAP":     "Take the blocks that are advertised, or do not advertise them.",
	"ACP-PERM":          "Offer options with ids that differ, at least one to allow and one to reject.",
	"AK-PERM":           "Go on only if the outcome is selected with the id of an option that allows; take everything else as a refusal.",
	"AK-PERM-009":       "Number requests for the whole connection, and find the question of an answer by the id alone.",
	"AK-FILE":           "Ask by the absolute path, and take an error as the answer of the tool.",
	"AK-TERMINAL":       "Release a terminal where it was created, whatever happened in between.",
	"ACP-MODES":         "Name the mode by an id of availableModes.",
	"AK-MODES":          "Look the mode up in availableModes, also while a turn runs.",
	"ACP-CONFIG":        "Send the list of all options after each change.",
	"AK-CONFIG":         "Look the option and the value up before they are set, for this session alone.",
	"AK-COMMAND":        "Name commands without the slash, without spaces, and each once.",
	"AK-MODES-003":      "Keep one value for both: tell the option when the mode is set, and the mode when the option is set.",
	"AK-AUTH-002":       "Answer auth/status by what session/new would do, without asking the user.",
	"AK-AUTH-003":       "Advertise auth.status, remember the state that was told last, and tell it only when it differs.",
	"ACP-AUTH":          "Give each method an id and a name, and keep terminal methods for clients that have one.",
	"AK-AUTH":           "Look the method up in authMethods.",
	"ACP-ERROR":         "Give each error a code and a sentence.",
	"AK-ERROR":          "Map errors to those of the protocol in one place, with a text of its own.",
	"AK-SIZE":           "Read lines with a buffer that grows to 32 MiB.",
	"AK-TOOL":           "Send tool_call when a tool call begins, and completed or failed when it ends.",
	"AK-TOOL-003":       "Make a new id for each tool call of a session, also if the model counts its calls anew.",
	"ACP-PATCH":         "Give ids and titles when an entity is first named.",
	"ACP-STATE":         "Report running when work begins, and idle when it ends.",
	"AK-STATE":          "Report the background work in each state, or in none.",
	"AK-INSERT":         "Keep prompts that wait in a queue, and answer those that are withdrawn with -32800.",
	"AK-OPTIONS":        "Read the values with which a session starts one by one, and leave out those that do not fit.",
	"AK-CURSOR":         "Send the anchor with the first update of a cursor, and never another one.",
	"AK-FORK":           "Look the cursor up, and copy the session up to it under a new id.",
	"AK-STATUS":         "Look the session up: it is open from session/new to session/close.",
	"AK-TITLE":          "Trim the title, refuse it if nothing is left, and return what was stored.",
	"AK-ARCHIVE":        "Look the session up, and leave those that are archived out of lists that do not ask for them.",
	"AK-SKILL":          "Advertise session.prompt.skill with the skills, and refuse those that are not listed.",
	"AK-SUGGEST":        "Leave out suggestions without text.",
	"AK-PLAN":           "Send the update plan to clients that do not advertise plan.",
	"AK-SYSTEM":         "Refuse a system prompt whose mode is not supported, and take the others.",
	"AK-HTTP":           "Compare the status and the headers with the table of the transport.",

	"AKC-INIT":    "Send initialize first, read its result with members that are not known, and stop if it fails or names a version that is not spoken.",
	"AKC-SESSION": "Wait for the response to session/new, and use its id as it is.",
	"AKC-AUTH":    "Choose a method of authMethods that is no terminal method.",
	"AKC-RPC-003": "Keep the id of a request as the JSON that was read, and copy it into the response.",
	"AKC-RPC":     "Treat each line by itself: answer each request once, with -32601 if its method is not known, and read on whatever the line is.",
	"AKC-WIRE":    "Generate types from the schema of the version, or validate messages by it in tests.",
	"AKC-ORDER":   "Take updates whenever they come, leave out what is not known, and read on.",
	"AKC-PERM":    "Choose an option by its kind, answer by its id, and answer cancelled when the turn is cancelled.",
	"AKC-ELIC":    "Read the schema of the form, and send values of its types.",
	"AKC-SERVES":  "Advertise what is served, and serve what is advertised.",
	"AKC-READ":    "Read the bytes of the file, cut lines at line feeds alone, and change nothing else.",
	"AKC-WRITE":   "Write the bytes of the text as they are, to this file alone, and report errors.",
	"AKC-OUTSIDE": "Resolve symlinks and .. before the path is compared with the folder of the session.",
	"AKC-TERM":    "Keep each command with its output and its exit status until its terminal is released, and end its process group.",
	"AKC-EXIT":    "End, or tell the user, when the agent has ended, and when the user interrupts.",
}

// Advice says what to change if the check fails.
func (c *Check) Advice() string {
	for id := c.ID; id != ""; {
		if text, ok := advice[id]; ok {
			return text
		}
		i := strings.LastIndexByte(id, '-')
		if i < 0 {
			break
		}
		id = id[:i]
	}
	return ""
}
