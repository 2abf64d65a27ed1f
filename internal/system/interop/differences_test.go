package interop_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// difference is a place where this SDK answers otherwise than the TypeScript SDK, on
// purpose. It either rewrites every answer of a kind, or it names vectors and says
// what comes instead.
type difference struct {
	why       string
	rewrite   func(message)
	names     []string
	received  []string // instead of the vector's, with our own ids
	events    []string // instead of the vector's
	unordered bool     // events come in any order
	open      bool     // the connection stays open where it closes theirs
}

// differences is all of them.
var differences = []difference{
	{
		why:     "-32600 does not echo the offending message back: it may hold secrets and be deeply nested",
		rewrite: errorOf("-32600", func(e map[string]any) { delete(e, "data") }),
	},
	{
		why: "the message of -32601 has no quotes",
		rewrite: errorOf("-32601", func(e map[string]any) {
			e["message"] = strings.Replace(e["message"].(string), `"Method not found"`, "Method not found", 1)
		}),
	},
	{
		why:     "the text of an unexpected error does not leave the program, but an id under which the log has it",
		rewrite: errorOf("-32603", func(e map[string]any) { e["data"] = map[string]any{"errorId": "ID"} }),
	},
	{
		why: "the message of -32022 names the version, for programs that show nothing else",
		rewrite: errorOf("-32022", func(e map[string]any) {
			data, _ := e["data"].(map[string]any)
			e["message"] = fmt.Sprint(e["message"], ": ", data["requested"])
		}),
	},
	{
		why:      "-32600 carries the id of the message where it has a usable one",
		names:    []string{"frame.missing_jsonrpc_request", "frame.jsonrpc_number", "frame.method_not_string"},
		received: []string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid request"}}`, alive99},
	},
	{
		why:      "a message with a method and a result is neither a request nor a response: two readers could take it for different things",
		names:    []string{"frame.method_and_result"},
		received: []string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid request"}}`, alive99},
	},
	{
		why:   "the same, and members of the wrong case count as absent",
		names: []string{"frame.case_sensitivity"},
		received: []string{
			`{"jsonrpc":"2.0","id":1,"result":{"requestId":1}}`,
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"Invalid request"}}`,
		},
	},
	{
		why:      "a message that is nested too deep is refused, with its id, and harms nobody",
		names:    []string{"frame.deep_nesting_5000"},
		received: []string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid request"}}`, alive99},
		open:     true,
	},
	{
		why:      "a message that is too long is skipped and refused; the connection goes on",
		names:    []string{"frame.size_unterminated_over_limit"},
		received: []string{`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request"}}`},
		open:     true,
	},
	{
		why:      "ids are echoed verbatim, also where JavaScript cannot hold them",
		names:    []string{"id.max_safe_plus_1"},
		received: []string{`{"jsonrpc":"2.0","id":9007199254740993,"result":{"params":null,"requestId":9007199254740993}}`, alive99},
	},
	{
		why:   "a duplicate id in flight is refused for the second, the first goes on and can be cancelled",
		names: []string{"id.duplicate_in_flight_cancel"},
		received: []string{
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid request"}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"Request cancelled","data":{"requestId":1}}}`,
		},
		events: []string{`{"prompt":{"sessionId":"s1","prompt":[{"type":"text","text":"wait"}]}}`},
	},
	{
		why:      "bytes that are no UTF-8 stay as they are in raw JSON; theirs read as one replacement character",
		names:    []string{"frame.truncated_utf8_eol"},
		received: []string{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"params\":\"\xe2\x82\",\"requestId\":1}}"},
	},
	{
		why:      "a relative cwd is refused where a session begins",
		names:    []string{"params.relative_cwd"},
		received: []string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params"}}`},
		events:   []string{},
	},
	{
		why:      "content of a kind that this version does not know is delivered, so that newer peers work",
		names:    []string{"params.unknown_union_tag"},
		received: []string{`{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}`},
		events:   []string{`{"prompt":{"sessionId":"s1","prompt":[{"type":"hologram","data":"x"}]}}`},
	},
	{
		why:      "a validation error raised by the agent's own code is not the client's mistake",
		names:    []string{"handler.zodError"},
		received: []string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error","data":{"errorId":"ID"}}}`, alive99},
	},
	{
		why:      "a result that JSON cannot hold is an error of that request alone, not silently null",
		names:    []string{"handler.returnNaN"},
		received: []string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error","data":{"errorId":"ID"}}}`, alive99},
	},
	{
		why:      "what was asked before the end of input is answered",
		names:    []string{"eof.request_then_eof_same_chunk"},
		received: []string{alive99},
	},
	{
		why:      "the same; and there is always a gate, so the handshake comes first",
		names:    []string{"eof.unterminated_request_reaches_handler"},
		received: []string{`{"jsonrpc":"2.0","id":1,"result":null}`},
	},
	{
		why:   "initialize followed at once by another request works",
		names: []string{"init.pipelined"},
		received: []string{
			`{"jsonrpc":"2.0","id":"init","result":{"protocolVersion":1,"agentCapabilities":{}}}`,
			`{"jsonrpc":"2.0","id":2,"result":{"params":1,"requestId":2}}`,
		},
	},
	{
		why:    "a request's handler starts when the notifications before it have been handled",
		names:  []string{"order.notification_then_request"},
		events: []string{`"slowN-start n"`, `"slowN-end n"`, `"slow-start r"`, `"slow-end r"`},
	},
	{
		why:       "requests run at the same time, and which of two is entered first is open",
		names:     []string{"order.requests_concurrent", "id.string_and_number_distinct"},
		unordered: true,
	},
	{
		why: "an answer that is none is a failure of this side's call; nobody has said -32600",
		names: []string{
			"resp.both_result_and_error", "resp.error_null_result_present", "resp.error_fractional_code", "resp.missing_jsonrpc",
			"resp.string_id_for_number",
		},
		events: []string{permPrompt, `{"permErr":{"name":"Error"}}`},
	},
	{
		why:    "results are checked: one without what the method promises fails the call",
		names:  []string{"resp.result_null"},
		events: []string{permPrompt, `{"permErr":{"name":"Error"}}`},
	},
	{
		why:      "the client says what it can do, and results are read into types: what is malformed there is its default",
		names:    []string{"out.request_initialize"},
		received: []string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}}}}`},
		events:   []string{`{"result":{"protocolVersion":1,"agentCapabilities":{}}}`},
	},
	{
		why:      "params that cannot be encoded fail that call alone",
		names:    []string{"out.params_unserialisable"},
		received: []string{`{"jsonrpc":"2.0","id":5,"result":{"content":"hello"}}`},
		events:   []string{`{"error":{"name":"Error"}}`, `{"read":{"sessionId":"s","path":"/a"}}`},
		open:     true,
	},
	{
		why:   "a prompt is cancelled with session/cancel, which every agent knows, and its answer is waited for",
		names: []string{"cancel.out_signal_then_error"},
		received: []string{
			`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}`,
			`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`,
		},
		events: []string{`{"error":{"name":"RequestError","code":-32800,"message":"Request cancelled","data":{"requestId":1}}}`},
	},
	{
		why:   "the same; an answer in time is the answer",
		names: []string{"cancel.out_stop_waiting"},
		received: []string{
			`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}`,
			`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`,
		},
		events: []string{`{"result":{"stopReason":"cancelled"}}`},
	},
	{
		why:      "nothing is sent for a call whose ctx has ended before it began",
		names:    []string{"cancel.out_already_aborted"},
		received: []string{},
		events:   []string{`{"error":{"name":"Error"}}`},
	},
	{
		why:    "local failures carry no message of the peer",
		names:  []string{"close.local_with_pending", "close.peer_eof_with_pending"},
		events: []string{`{"error":{"name":"Error"}}`},
	},
	{
		why:    "an update of a kind that this version does not know is delivered as it came",
		names:  []string{"in.update_unknown_kind"},
		events: []string{`{"update":{"sessionId":"s1","update":{"sessionUpdate":"from_the_future","x":1}}}`},
	},
	{
		why:   "kinds of content and values of enumerations that this version does not know are kept",
		names: []string{"in.permission"},
		events: []string{`{"perm":{"sessionId":"s1","toolCall":{"toolCallId":"t","kind":"weird","content":[
			{"type":"content","content":{"type":"text","text":"x"}},{"type":"bogus"}],"rawInput":{"a":1}},
			"options":[{"optionId":"a","name":"A","kind":"allow_once"}]}}`},
	},
	{
		why: "a call returns when every notification before its answer has been handled",
		names: []string{
			"order.update_vs_response_2_handlers_before_sync", "order.update_vs_response_3_handlers_before_sync",
			"order.update_vs_response_8_handlers_before_sync",
		},
		events: []string{`"u1"`, `"u2"`, `"u3"`, `"RESPONSE"`},
	},
	{
		why:    "notifications are handled in the order in which they arrive, whatever their method",
		names:  []string{"order.two_notification_methods"},
		events: []string{`"late1"`, `"early2"`, `"late3"`, `"early4"`},
	},
	{
		why:    "updates before the answer that introduces their session reach the client, and are kept for the session",
		names:  []string{"order.update_before_session_new_response"},
		events: []string{`"u0"`, `"u0"`},
	},
	{
		why:   "a method of the protocol never goes to the extension handler, and it is checked",
		names: []string{"fallback.request"},
		received: []string{
			`{"jsonrpc":"2.0","id":1,"result":{"echoed":{"a":1}}}`,
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found: _x/no","data":{"method":"_x/no"}}}`,
			`{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"Invalid params"}}`,
		},
		events:    []string{`{"fbReq":"_x/y","params":{"a":1},"requestId":1}`, `{"fbReq":"_x/no","params":{},"requestId":2}`},
		unordered: true,
	},
	{
		why:      "initialize followed at once by another request works, in version 2 too",
		names:    []string{"v2.init_pipelined"},
		received: []string{initialized2, `{"jsonrpc":"2.0","id":2,"result":{"v":2,"params":1}}`},
	},
	{
		why:      "a relative path is refused where a session begins, also that of an MCP server",
		names:    []string{"v2.mcp_servers"},
		received: []string{initialized2, `{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Invalid params"}}`},
		events:   []string{`{"init":{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{}}}`},
	},
	{
		why:   "a result of the agent that breaks the schema is not the client's mistake",
		names: []string{"v2.bad_response_from_handler"},
		received: []string{
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error","data":{"errorId":"ID"}}}`,
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"Internal error","data":{"errorId":"ID"}}}`,
		},
	},
}

// initialized2 is the response to initialize of the agent of version 2.
const initialized2 = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2,"capabilities":{},"info":{"name":"a","version":"1"}}}`

// alive99 is the answer to the echo request that follows many vectors.
const alive99 = `{"jsonrpc":"2.0","id":99,"result":{"params":{"still":"alive"},"requestId":99}}`

// permPrompt is the event with which the vectors about answers begin.
const permPrompt = `{"prompt":{"sessionId":"s1","prompt":[{"type":"text","text":"perm"}]}}`

// errorOf rewrites the errors of one code.
func errorOf(code json.Number, change func(map[string]any)) func(message) {
	return func(m message) {
		if e, ok := m["error"].(map[string]any); ok && e["code"] == code {
			change(e)
		}
	}
}

// rewriteAll applies what holds for every vector.
func rewriteAll(m message) {
	for _, d := range differences {
		if d.rewrite != nil {
			d.rewrite(m)
		}
	}
}

// differs returns what is different about one vector, and nil when nothing is.
func differs(v *vector) *difference {
	for i := range differences {
		if slices.Contains(differences[i].names, v.Name) {
			return &differences[i]
		}
	}
	return nil
}
