package completions

import (
	"bytes"
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/internal/retryafter"
)

// A Report is what a server says of an error. Its texts are those of the server.
type Report struct {
	Texts      []string
	Code       string
	Status     int           // an HTTP status in the text; 0 if there is none
	After      time.Duration // how long to wait; 0 if it is not said
	Page       bool          // it is a web page
	Unfinished bool          // the answer has no end, and nothing says why
	unsure     bool          // it may be no error
}

func (p *Report) Error() string { return strings.Join(p.Texts, ": ") }

// ReadReport reads the body of a response that is no answer.
func ReadReport(body []byte) *Report {
	p := &Report{Page: IsPage(body)}
	body = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff"))), []byte("data:")))
	switch {
	case IsPage(body):
		p.Texts, p.Page = []string{titleOf(body)}, true
	case json.Valid(body):
		if p.read(body, 0); len(p.Texts) == 0 && !IsNull(body) {
			p.Texts = []string{string(body)}
		}
	default:
		p.Texts = []string{string(body)}
	}
	return p
}

// The members with a text, and those that contain further ones, in all known forms of errors.
var (
	textMembers  = []string{"message", "msg", "error_msg", "error_message", "errmsg", "status_msg", "error_description", "title", "reason"}
	innerMembers = []string{"raw", "metadata", "error", "errors", "detail", "details", "base_resp", "innererror"}
	codeMembers  = []string{"code", "error_code", "status_code", "type", "status", "reason"}
)

// errorIn returns the error that a chunk contains, or nil.
func errorIn(c Members, choices []json.RawMessage, data []byte, failed bool) *Report {
	p := &Report{}
	inner := []json.RawMessage{c["error"], c["errors"], ObjectOf(c["x_groq"])["error"]}
	for _, choice := range choices {
		inner = append(inner, ObjectOf(choice)["error"])
	}
	if code := TextOf(ObjectOf(c["base_resp"])["status_code"]); code != "" && code != "0" { // MiniMax
		inner = append(inner, c["base_resp"])
	}
	inner = slices.DeleteFunc(inner, IsNull)
	if len(inner) == 0 && len(choices) == 0 {
		if failed || TextOf(c["type"]) == "error" || TextOf(c["object"]) == "error" || TextOf(c["status"]) == "error" {
			inner = []json.RawMessage{data}
		} else if code := TextOf(c["code"]); code != "0" && code != "200" { // otherwise it is the word success
			p.unsure = true
			for _, name := range append([]string{"detail"}, textMembers...) {
				if !IsNull(c[name]) {
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
	if len(p.Texts) == 0 {
		if code := strings.Fields(p.Code); p.Status == 0 && (len(code) == 0 || code[0] == "0") && !failed {
			return nil // the members of an error, all empty
		}
		p.Texts = []string{string(data[:min(len(data), MaxError)])}
	}
	return p
}

func (p *Report) read(raw json.RawMessage, depth int) {
	if depth > 8 || IsNull(raw) {
		return
	}
	var text string
	var list []json.RawMessage
	if json.Unmarshal(raw, &text) == nil {
		if inner := []byte(strings.TrimSpace(text)); json.Valid(inner) && (inner[0] == '{' || inner[0] == '[') {
			p.read(inner, depth+1)
		} else if text != "" && !slices.Contains(p.Texts, text) {
			p.Texts = append(p.Texts, text)
		}
		return
	} else if json.Unmarshal(raw, &list) == nil {
		for _, e := range list {
			p.read(e, depth+1)
		}
		return
	}
	o := ObjectOf(raw)
	for _, name := range codeMembers {
		code := TextOf(o[name])
		if n, err := strconv.Atoi(code); err == nil && n >= 400 && n < 600 {
			p.Status = n
		} else if p.Code += " " + code; code == "" {
			p.Code = strings.TrimSuffix(p.Code, " ")
		}
	}
	if d, err := time.ParseDuration(TextOf(o["retryDelay"])); err == nil && d > 0 { // Gemini
		p.After = d
	}
	if d, ok := retryafter.Parse(TextOf(ObjectOf(o["headers"])["Retry-After"])); ok { // OpenRouter
		p.After = d
	}
	for _, name := range textMembers {
		if text := TextOf(o[name]); text != "" {
			var place []string
			for _, step := range ListOf(o["loc"]) { // FastAPI
				place = append(place, TextOf(step))
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

// IsPage reports whether a body is a web page.
func IsPage(body []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) }

var title = regexp.MustCompile(`(?is)<(?:title|h1)[^>]*>(.*?)</`)

// titleOf reduces a web page to its title.
func titleOf(page []byte) string {
	if found := title.FindSubmatch(page); found != nil {
		return html.UnescapeString(string(found[1]))
	}
	return ""
}
