package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/rpcerr"
)

// statusError is a response with a status other than 200, or a web page.
type statusError struct {
	status  int
	message string        // message of a JSON error
	code    string        // code or type of a JSON error
	html    bool          // the response is a web page
	to      string        // target of a redirect that was not followed, without the path of the request
	after   time.Duration // value of Retry-After
}

func (e *statusError) Error() string { return fmt.Sprintf("chat: status %d: %s", e.status, e.message) }

func newStatusError(res *http.Response, body []byte) *statusError {
	e := &statusError{status: res.StatusCode, html: isPage(body)}
	e.message, e.code = errorOf(body)
	if to, err := res.Location(); err == nil {
		to = &url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path} // the query is omitted because it may contain a secret
		e.to = strings.TrimSuffix(strings.TrimSuffix(to.String(), "/models"), "/chat/completions")
	}
	if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && s >= 0 {
		e.after = time.Duration(s) * time.Second
	}
	return e
}

func isPage(body []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) }

// errorOf returns the message and the code of an error response. Servers use several forms:
// {"error": {"message"}}, {"error": "text"}, {"message"}, {"detail"}, or only the value of "error".
func errorOf(body []byte) (message, code string) {
	var e struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		Code    json.RawMessage `json:"code"`
		Type    string          `json:"type"`
	}
	if json.Unmarshal(body, &message) == nil {
		return clip(message), ""
	}
	if json.Unmarshal(body, &e) != nil {
		return "", ""
	}
	if len(e.Error) > 0 && string(e.Error) != "null" {
		return errorOf(e.Error)
	}
	for _, raw := range []json.RawMessage{e.Message, e.Detail} {
		if message == "" && json.Unmarshal(raw, &message) != nil {
			message = ""
		}
	}
	if json.Unmarshal(e.Code, &code) != nil {
		code = e.Type
	}
	return clip(message), code
}

// clip turns a text of a server into one line of at most 200 characters.
func clip(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if utf8.RuneCountInString(text) > 200 {
		text = string([]rune(text)[:199]) + "…"
	}
	return text
}

// failed returns an error for the person.
func (m *Model) failed(format string, args ...any) *rpcerr.RequestError {
	text := fmt.Sprintf(format, args...)
	if m.opts.Key != "" {
		text = strings.ReplaceAll(text, m.opts.Key, "[API_KEY]")
	}
	return rpcerr.InternalError(nil).WithDetail(text)
}

// explain converts the error of a request into an error for the person. The model is empty for a
// request for the list of models.
func (m *Model) explain(ctx context.Context, err error, model string) error {
	var status *statusError
	var own *rpcerr.RequestError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &own):
		return err
	case !errors.As(err, &status):
		return m.unreachable(err)
	}
	if loop.SaysTooLong(status.message + " " + status.code) {
		return m.tooLong(status.message, err)
	}
	says := ""
	if status.message != "" {
		says = ": " + status.message
	}
	switch {
	case status.to != "":
		return m.failed("%s redirects (status %d): set BASE_URL to %s", m.host, status.status, clip(status.to)).WithCause(err)
	case status.html:
		return m.failed("BASE_URL leads to a web page and not to a server of chat completions (%s, status %d)", m.host, status.status).WithCause(err)
	case strings.Contains(strings.ToLower(status.message), "does not support tools"):
		return m.failed("the model %s cannot call tools: choose another MODEL%s", model, says).WithCause(err)
	case status.status == http.StatusUnauthorized || status.status == http.StatusForbidden:
		if m.opts.Key == "" {
			return m.failed("%s wants a key: set API_KEY%s", m.host, says).WithCause(err)
		}
		return m.failed("%s rejects API_KEY (status %d)%s", m.host, status.status, says).WithCause(err)
	case status.status == http.StatusPaymentRequired, status.status == http.StatusTooManyRequests:
		return m.failed("%s has a limit that is reached (status %d)%s", m.host, status.status, says).WithCause(err)
	case model != "" && unknownModel(status):
		if ids, listErr := m.models(ctx); listErr == nil {
			return m.failed("%s does not know the model %s; it has %s", m.host, model, listed(ids)).WithCause(err)
		}
		return m.failed("%s does not know the model %s%s", m.host, model, says).WithCause(err)
	case status.status == http.StatusNotFound:
		return m.failed("%s has nothing at %s/chat/completions: BASE_URL usually ends in /v1", m.host, m.base).WithCause(err)
	}
	return m.failed("%s has answered with status %d%s", m.host, status.status, says).WithCause(err)
}

func unknownModel(e *statusError) bool {
	text := strings.ToLower(e.message)
	return e.code == "model_not_found" || strings.Contains(text, "model") &&
		(e.status == http.StatusNotFound || strings.Contains(text, "not found") || strings.Contains(text, "does not exist") || strings.Contains(text, "not a valid model"))
}

func (m *Model) tooLong(says string, err error) error {
	return m.failed("%s says that the conversation is too long for the model: %s", m.host, says).WithCause(errors.Join(err, loop.ErrTooLong))
}

// explainBody converts an error that the server has sent in the middle of an answer.
func (m *Model) explainBody(body json.RawMessage) error {
	message, code := errorOf(body)
	if loop.SaysTooLong(message + " " + code) {
		return m.tooLong(message, nil)
	}
	if message == "" {
		message = clip(string(body))
	}
	return m.failed("%s has ended its answer with an error: %s", m.host, message)
}

// unreachable converts the error of a request that got no response.
func (m *Model) unreachable(err error) error {
	var dns *net.DNSError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &dns):
		return m.failed("the host of BASE_URL, %s, cannot be found", m.host).WithCause(err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return m.failed("%s has not answered in time", m.host).WithCause(err)
	}
	return m.failed("%s cannot be reached: %v. Is the server running?", m.host, short(err)).WithCause(err)
}

// short returns the innermost error, whose text does not contain the URL.
func short(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
