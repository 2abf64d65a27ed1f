package chat

import (
	"bytes"
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/internal/retryafter"
)

// report is what a server says of an error.
type report struct {
	texts  []string
	code   string
	status int           // an HTTP status in the text; 0 if there is none
	after  time.Duration // how long to wait; 0 if it is not said
	unsure bool          // it may be no error
}

// The members with a text, and those that contain further ones, in all known forms of errors.
var (
	textMembers  = []string{"message", "msg", "error_msg", "error_message", "errmsg", "status_msg", "error_description", "title", "reason"}
	innerMembers = []string{"raw", "metadata", "error", "errors", "detail", "details", "base_resp", "innererror"}
	codeMembers  = []string{"code", "error_code", "status_code", "type", "status", "reason"}
)

// errorIn returns the error that a chunk contains, or nil.
func errorIn(c members, choices []json.RawMessage, data []byte, failed bool) *report {
	p := &report{}
	inner := []json.RawMessage{c["error"], c["errors"], objectOf(c["x_groq"])["error"]}
	for _, choice := range choices {
		inner = append(inner, objectOf(choice)["error"])
	}
	if code := textOf(objectOf(c["base_resp"])["status_code"]); code != "" && code != "0" { // MiniMax
		inner = append(inner, c["base_resp"])
	}
	inner = slices.DeleteFunc(inner, isNull)
	if len(inner) == 0 && len(choices) == 0 {
		if failed || textOf(c["type"]) == "error" || textOf(c["object"]) == "error" || textOf(c["status"]) == "error" {
			inner = []json.RawMessage{data}
		} else if code := textOf(c["code"]); code != "0" && code != "200" { // otherwise it is the word success
			p.unsure = true
			for _, name := range append([]string{"detail"}, textMembers...) {
				if !isNull(c[name]) {
					inner = []json.RawMessage{data}
				}
			}
		}
	}
	if len(inner) == 0 {
		return nil
	}
	if !p.unsure {
		p.read(data, 0)
	}
	for _, raw := range inner {
		p.read(raw, 0)
	}
	if len(p.texts) == 0 {
		if code := strings.Fields(p.code); p.status == 0 && (len(code) == 0 || code[0] == "0") && !failed {
			return nil // the members of an error, all empty
		}
		p.texts = []string{string(data[:min(len(data), maxError)])}
	}
	return p
}

func (p *report) read(raw json.RawMessage, depth int) {
	if depth > 8 || isNull(raw) {
		return
	}
	var text string
	var list []json.RawMessage
	if json.Unmarshal(raw, &text) == nil {
		if inner := []byte(strings.TrimSpace(text)); json.Valid(inner) && (inner[0] == '{' || inner[0] == '[') {
			p.read(inner, depth+1)
		} else if text != "" && !slices.Contains(p.texts, text) {
			p.texts = append(p.texts, text)
		}
		return
	} else if json.Unmarshal(raw, &list) == nil {
		for _, e := range list {
			p.read(e, depth+1)
		}
		return
	}
	o := objectOf(raw)
	for _, name := range codeMembers {
		code := textOf(o[name])
		if n, err := strconv.Atoi(code); err == nil && n >= 400 && n < 600 {
			p.status = n
		} else if p.code += " " + code; code == "" {
			p.code = strings.TrimSuffix(p.code, " ")
		}
	}
	if d, err := time.ParseDuration(textOf(o["retryDelay"])); err == nil && d > 0 { // Gemini
		p.after = d
	}
	if d, ok := retryafter.Parse(textOf(objectOf(o["headers"])["Retry-After"])); ok { // OpenRouter
		p.after = d
	}
	for _, name := range textMembers {
		if text := textOf(o[name]); text != "" {
			var place []string
			for _, step := range listOf(o["loc"]) { // FastAPI
				place = append(place, textOf(step))
			}
			if place != nil {
				text = strings.Join(place, ".") + ": " + text
			}
			quoted, _ := json.Marshal(text)
			p.read(quoted, depth+1)
			break
		}
	}
	for _, name := range innerMembers {
		p.read(o[name], depth+1)
	}
}

// A refusal is what a server says instead of an answer, or in the middle of one.
type refusal struct {
	status int    // 0 if it is not known
	text   string // without secrets
	code   string
	page   bool          // the response is a web page
	midway bool          // it was sent as an answer, with status 200
	to     string        // target of a redirect that was not followed, without the path of the request
	after  time.Duration // how long to wait; 0 if it is not said
}

func (e *refusal) Error() string { return "chat: status " + strconv.Itoa(e.status) + ": " + e.text }

// refused reads a response that is no answer.
func (m *Model) refused(res *http.Response, body []byte) *refusal {
	p := &report{}
	body = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff"))), []byte("data:")))
	switch {
	case isPage(body):
		p.texts = []string{titleOf(body)}
	case json.Valid(body):
		if p.read(body, 0); len(p.texts) == 0 && !isNull(body) {
			p.texts = []string{string(body)}
		}
	default:
		p.texts = []string{string(body)}
	}
	r := m.said(p)
	r.status, r.page, r.midway = res.StatusCode, isPage(body), false
	if to, err := res.Location(); err == nil {
		to.User, to.RawQuery, to.Fragment = nil, "", "" // which may contain a secret
		r.to = strings.TrimSuffix(strings.TrimSuffix(to.String(), "/models"), "/chat/completions")
	}
	if after, ok := retryafter.In(res.Header); ok {
		r.after = after
	}
	return r
}

// tryAgain matches a time to wait in a text, as OpenAI and Groq write it.
var tryAgain = regexp.MustCompile(`(?i)(?:try again|retry) (?:in|after) ((?:[\d.]+(?:h|ms|m|s))+)`)

// said makes a refusal of a report.
func (m *Model) said(p *report) *refusal {
	r := &refusal{status: p.status, text: m.clean(strings.Join(p.texts, ": ")), code: strings.TrimSpace(p.code), after: p.after, midway: true}
	if r.status == 0 {
		for _, s := range statuses {
			if s.pattern.MatchString(r.code + " " + r.text) {
				r.status = s.status
				break
			}
		}
	}
	if found := tryAgain.FindStringSubmatch(r.text); found != nil && r.after == 0 {
		r.after, _ = time.ParseDuration(found[1]) // it stays zero
	}
	return r
}

// tooLong reports whether the request was too long for the model.
func (e *refusal) tooLong() bool {
	return e.status == http.StatusRequestEntityTooLarge || e.status != http.StatusTooManyRequests && loop.SaysTooLong(e.text+" "+e.code)
}

// final reports whether sending the request again cannot help, whatever its status.
func (e *refusal) final() bool { return permanent.MatchString(e.code+" "+e.text) && e.after == 0 }

func (e *refusal) unknownModel() bool {
	text := strings.ToLower(e.text)
	return strings.Contains(e.code, "model_not_found") || strings.Contains(text, "model") &&
		(e.status == http.StatusNotFound || strings.Contains(text, "not found") || strings.Contains(text, "does not exist") || strings.Contains(text, "not a valid model"))
}

func isPage(body []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) }

var title = regexp.MustCompile(`(?is)<(?:title|h1)[^>]*>(.*?)</`)

// titleOf reduces a web page to its title.
func titleOf(page []byte) string {
	if found := title.FindSubmatch(page); found != nil {
		return html.UnescapeString(string(found[1]))
	}
	return ""
}

// clip turns a text of a server into one line of at most 300 characters.
func clip(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if utf8.RuneCountInString(text) > 300 {
		text = string([]rune(text)[:299]) + "…"
	}
	return text
}
