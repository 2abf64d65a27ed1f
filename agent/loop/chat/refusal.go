package chat

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/internal/completions"
	"github.com/acpkit/go-sdk/internal/retryafter"
)

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
	p := completions.ReadReport(body)
	r := m.said(p)
	r.status, r.page, r.midway = res.StatusCode, p.Page, false
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
func (m *Model) said(p *completions.Report) *refusal {
	r := &refusal{status: p.Status, text: m.clean(p.Error()), code: strings.TrimSpace(p.Code), after: p.After, page: p.Page, midway: true}
	if p.Unfinished {
		return r
	}
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

// clip turns a text of a server into one line of at most 300 characters.
func clip(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if utf8.RuneCountInString(text) > 300 {
		text = string([]rune(text)[:299]) + "…"
	}
	return text
}
