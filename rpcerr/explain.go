package rpcerr

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// maxText bounds what Explain shows of the text of an error, in bytes.
const maxText = 4 << 10

// maxReason bounds what Explain shows of the data of an error, in bytes.
const maxReason = 512

// Explain returns the text of err for a person: the message, the code and the reason
// that many programs put into the data they send, and what would help.
//
//	Internal error (-32603): OPENAI_API_KEY is not set
//	Invalid params (-32602): mcpServers[0].command: must not be empty
//	Rate limit exceeded (-31011): too_many_tokens; try again in 2s
//
// The reason is the data if that is a string, and otherwise the first three paths of [Fields], the
// string in the member "details", "detail" or "reason", or the id in the member "errorId", under which
// the peer has logged the error. The hint, the waiting time and whether to try again are those of a record of
// package kind. Explain shows it only if the error came from the peer, without control
// characters and at most 512 bytes of it, and at most 4 KiB of the text of an error. For an unsupported protocol version it shows the versions
// that the peer supports. Explain returns "" for nil, and the text of err for an error that carries
// no code.
//
// The text is for a screen. In a log, use the error itself: its text never contains data.
func Explain(err error) string {
	if err == nil {
		return ""
	}
	text := fmt.Sprint(err) // it recovers a panic of the Error method
	text = printable(text, maxText)
	r, _ := find(err)
	if r == nil {
		return text
	}
	if code := strconv.Itoa(int(r.Code)); !strings.Contains(text, "("+code+")") {
		text += " (" + code + ")"
	}
	reason := supportedBy(r)
	if reason == "" {
		reason = reasonOf(sent(err, r))
	}
	if reason != "" && !strings.Contains(text, reason) {
		text += ": " + reason
	}
	if next := adviceOf(sent(err, r)); next != "" && !strings.Contains(text, next) {
		text += "; " + next
	}
	return text
}

// adviceOf returns what the peer says would help: the hint of a record of package kind, and whether and
// when to try again.
func adviceOf(r *RequestError) string {
	var data map[string]json.RawMessage
	if r == nil || r.DecodeData(&data) != nil {
		return ""
	}
	var recovery struct {
		Hint string `json:"hint"`
	}
	var parts []string
	if json.Unmarshal(data["recovery"], &recovery) == nil && strings.TrimSpace(recovery.Hint) != "" {
		parts = append(parts, strings.TrimSuffix(short(recovery.Hint), "."))
	}
	var after float64
	var again bool
	switch {
	case json.Unmarshal(data["retryable"], &again) != nil || !again:
	case json.Unmarshal(data["retryAfterMs"], &after) == nil && after > 0 && after < float64(longestWait.Milliseconds()):
		parts = append(parts, "try again in "+(time.Duration(after)*time.Millisecond).String())
	default:
		parts = append(parts, "try again")
	}
	return strings.Join(parts, "; ")
}

// longestWait is the longest waiting time that is shown.
const longestWait = 30 * 24 * time.Hour

// FromPeer reports whether the peer sent the error: whether err is, or was made of, an error
// that was decoded from JSON and not changed since.
func FromPeer(err error) bool {
	r, _ := find(err)
	return r != nil && sent(err, r) != nil
}

// sent returns the error of the peer that err is or was made of, or nil. r is the wire form of err.
func sent(err error, r *RequestError) (found *RequestError) {
	errs.Walk(err, func(err error) bool {
		p, ok := err.(*RequestError)
		if !ok || p == nil {
			return false
		}
		if p.received && p.Code == r.Code && p.Message == r.Message {
			found = p
		}
		return true
	})
	return found
}

// supportedBy returns the supported versions in the data of an error about an unsupported version.
func supportedBy(r *RequestError) string {
	var data struct {
		Supported []int `json:"supported"`
	}
	if r.Code != CodeUnsupportedProtocolVersion || r.DecodeData(&data) != nil || len(data.Supported) == 0 {
		return ""
	}
	return short("supported: " + strings.Trim(strings.ReplaceAll(fmt.Sprint(data.Supported), " ", ", "), "[]"))
}

// reasonOf returns the part of the data that is meant for a person.
func reasonOf(r *RequestError) string {
	if r == nil {
		return ""
	}
	var text string
	if r.DecodeData(&text) == nil {
		return short(text)
	}
	if fields := short(r.firstFields()); fields != "" {
		return fields
	}
	var data map[string]json.RawMessage
	if r.DecodeData(&data) != nil {
		return ""
	}
	for _, name := range []string{"details", "detail"} {
		if json.Unmarshal(data[name], &text) == nil && strings.TrimSpace(text) != "" {
			return short(text)
		}
	}
	if len(data["kind"]) > 0 && json.Unmarshal(data["reason"], &text) == nil && text != "" { // of a record of package kind
		return short(text)
	}
	if json.Unmarshal(data["errorId"], &text) == nil && text != "" {
		return short("error id " + text)
	}
	return ""
}

// short returns at most maxReason bytes of s, on one line.
func short(s string) string { return strings.TrimSpace(printable(strings.TrimSpace(s), maxReason-3)) }

// printable returns at most limit bytes of s on one line that is safe to print. White space becomes one
// space, because much of it would push the rest to the next row of a terminal.
func printable(s string, limit int) string {
	return strings.Join(strings.Fields(safetext.Lines(s, limit)), " ")
}
