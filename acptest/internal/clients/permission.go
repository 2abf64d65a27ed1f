package clients

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

const permission = "session/request_permission"

// option is an option of a permission request.
type option struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

var (
	allow   = option{"acptest-1", "Allow", "allow_once"}
	reject  = option{"acptest-2", "Reject", "reject_once"}
	offered = []option{allow, reject}
)

// question returns the params of a permission request.
func (s *session) question(options []option, members ...any) map[string]any {
	call := object("toolCallId", "acptest-call", "title", "Change a file", "kind", "edit", "status", "pending")
	params := s.with(append([]any{"options", options}, members...)...)
	if s.t.Version == 1 {
		params["toolCall"] = call
	} else if params["title"] = "May a file be changed?"; params["subject"] == nil {
		params["subject"] = object("type", "tool_call", "toolCall", call)
	}
	return params
}

// choice asks for permission, and returns the option that was chosen; none if it was cancelled.
func (s *session) choice(options ...option) (option, check.Message) {
	m := s.served(permission, s.question(options))
	i := slices.IndexFunc(options, func(o option) bool { return o.ID == m.Text("outcome", "optionId") })
	if m.Text("outcome", "outcome") != "selected" || i < 0 {
		return option{}, m
	}
	return options[i], m
}

func (o option) allows() bool { return strings.HasPrefix(o.Kind, "allow") }

var asking = []check.Check{
	{ID: "AKC-PERM-001", Title: "A permission request is answered by the id of an offered option, or as cancelled.", Tier: check.Must, Fact: "tool-calls#requesting-permission", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			for _, options := range [][]option{offered, {reject}, {allow}} {
				m := s.asked(permission, s.question(options))
				id, outcome := m.Text("outcome", "optionId"), m.Text("outcome", "outcome")
				known := outcome == "selected" && slices.ContainsFunc(options, func(o option) bool { return o.ID == id })
				t.FailAtIf(!known && outcome != "cancelled", m, "The answer chooses none of the options.")
			}
		})},
	{ID: "AKC-PERM-002", Title: "Only in a turn that is cancelled is permission cancelled; else an option is chosen.", Tier: check.Should, Fact: "tool-calls#requesting-permission", In: check.Both,
		Run: func(t *check.T) {
			chosen, m := open(t).choice(offered...)
			t.FailAtIf(chosen.ID == "", m, "The outcome is cancelled, though the turn was not.")
		}},
	{ID: "AKC-PERM-003", Title: "The order of the options does not decide.", Tier: check.Should, Fact: "tool-calls#requesting-permission", In: check.Both,
		Run: func(t *check.T) { open(t).consistent([]option{reject, allow}) }},
	{ID: "AKC-PERM-004", Title: "An option is chosen by its kind, whatever its name and its id say.", Tier: check.Should, Fact: "tool-calls#requesting-permission", In: check.Both,
		Run: func(t *check.T) {
			open(t).consistent([]option{{"reject_once", "Reject", "allow_once"}, {"allow_once", "Allow", "reject_once"}})
		}},
	{ID: "AKC-PERM-005", Title: "An option of an unknown kind is not chosen.", Tier: check.Should, Fact: "tool-calls#requesting-permission", In: check.Both, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			m := s.asked(permission, s.question([]option{{"acptest-3", "Allow everything", "_acptest"}, reject}))
			t.FailAtIf(m.Text("outcome", "optionId") == "acptest-3", m, "The client chose an option whose meaning it cannot know.")
		})},
	{ID: "AKC-PERM-006", Title: "Nothing is allowed in a session that the client has not opened.", Tier: check.Should, Fact: "tool-calls#requesting-permission", In: check.Both, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			chosen, _ := s.choice(offered...)
			t.Requires(chosen.allows(), "The client allows nothing.")
			s.id = "acptest-unknown"
			m := s.asked(permission, s.question(offered))
			t.FailAtIf(m.Text("outcome", "optionId") == allow.ID, m, "The client allowed something in a session that does not exist.")
		})},
	{ID: "AKC-PERM-007", Title: "Nothing is allowed in a turn that the client has cancelled.", Tier: check.Should, Fact: "tool-calls#requesting-permission", In: check.Both, Prompts: []string{"text"},
		Run: check.With(open, func(t *check.T, s *session) {
			s.Start(permission, s.question(offered, "_meta", object("acptest", "pending")))
			s.Quiet(0) // an answer that needs no user is there
			s.cancelled()
			s.Quiet(0) // what the client has begun to answer may cross the cancel
			var c *check.Call
			t.Works(func() { c = s.Start(permission, s.question(offered)) }) // the client may have ended
			m, ok := c.Arrives()
			t.Requires(ok, "The client ended without an answer.")
			t.FailAtIf(m.Text("outcome", "outcome") == "selected", m, "Something was decided in a turn that was cancelled before.")
		})},
	{ID: "AKC-PERM-011", Title: "A question that is pending when the client cancels its turn is answered.", Tier: check.Must, Fact: "tool-calls#requesting-permission", In: check.V1, Prompts: []string{"text"},
		Run: check.With(open, func(t *check.T, s *session) {
			c := s.Start(permission, s.question(offered, "_meta", object("acptest", "open")))
			for _, m := range s.Quiet(c.From()) {
				t.SkipIf(c.IsResponse(&m), "The client decides by itself.")
			}
			s.cancelled()
			t.Requires(s.Answers(), "The client has cancelled, and answers nothing any more.")
			_, ok := c.Arrives()
			t.FailAtIf(!ok, s.Sent(c.From())[0], "The client has cancelled its turn and answered a later request, and not the question.")
		})},
	{ID: "AKC-PERM-008", Title: "A question without a subject, or with one of an unknown kind, is answered.", Tier: check.Must, Fact: "tool-calls#requesting-permission", In: check.V2,
		Run: check.With(open, func(t *check.T, s *session) {
			for _, subject := range []any{object("type", "_acptest"), object("type", "command", "command", "ls", "cwd", t.Opts.Cwd)} {
				if m := s.asked(permission, s.question(offered, "subject", subject)); m.Error != nil {
					t.FailAt(m, "The request failed with %d (%s).", m.Error.Code, m.Error.Message)
				}
			}
		})},
	{ID: "AKC-PERM-010", Title: "A question is answered whatever it tells of the tool call.", Tier: check.Must, Fact: "tool-calls#requesting-permission", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			t.Works(func() { s.asked(permission, s.question(offered)) }) // without its user
			calls := []map[string]any{
				object("toolCallId", "acptest-call"),
				object("toolCallId", "acptest-call", "title", nil, "kind", nil, "status", nil, "content", nil, "locations", nil, "rawInput", nil),
				object("toolCallId", "acptest-call", "title", "", "kind", "other", "rawInput", []any{1}, "locations", []any{object("path", t.Opts.Cwd)},
					"content", []any{object("type", "content", "content", object("type", "resource_link", "name", "a", "uri", "file:///a"))}),
			}
			for i, call := range calls {
				params := s.question(offered)
				if t.Version == 1 {
					params["toolCall"] = call
				} else if params["subject"] = object("type", "tool_call", "toolCall", call); i == 0 {
					delete(params, "subject")
				}
				m := s.Call(permission, params)
				if m.Error != nil {
					t.FailAt(m, "The question failed with %d (%s).", m.Error.Code, m.Error.Message)
				}
			}
		})},
	{ID: "AKC-ELIC-001", Title: "A form is answered with an action, and accepted only with what it requires.", Tier: check.Must, Fact: "elicitation", In: check.Both, Needs: "elicitation.form",
		Run: check.With(open, func(t *check.T, s *session) {
			m := s.served("elicitation/create", s.form("form"))
			action := m.Text("action")
			if !slices.Contains([]string{"accept", "decline", "cancel"}, action) || action == "accept" && m.Text("content", "name") == "" {
				t.FailAt(m, "The form was not filled in.")
			}
		})},
	{ID: "AKC-ELIC-003", Title: "The values of a form that is accepted have the types and the bounds that it asks for.", Tier: check.Must, Fact: "elicitation", In: check.Both, Needs: "elicitation.form",
		Run: check.With(open, func(t *check.T, s *session) {
			params := s.form("form")
			params["requestedSchema"] = object("type", "object", "required", []string{"count", "share", "sure", "color", "tags", "mail"}, "properties", object(
				"count", object("type", "integer", "minimum", 3, "maximum", 5),
				"share", object("type", "number", "minimum", 0.25, "maximum", 0.75),
				"sure", object("type", "boolean"),
				"color", object("type", "string", "enum", []string{"red", "green"}),
				"tags", object("type", "array", "minItems", 1, "items", object("type", "string", "enum", []string{"a", "b"})),
				"mail", object("type", "string", "format", "email")))
			m := s.served("elicitation/create", params)
			t.Requires(m.Text("action") == "accept", "The client did not accept the form.")
			content := m.Result
			count, share := check.At(content, "content", "count"), check.Get[*float64](&m, "content", "share")
			n, err := strconv.Atoi(string(count))
			t.FailAtIf(err != nil || n < 3 || n > 5, m, "count is %s, and not an integer from 3 to 5.", shown(count))
			t.FailAtIf(share == nil || *share < 0.25 || *share > 0.75, m, "share is %s, and not a number from 0.25 to 0.75.", shown(check.At(content, "content", "share")))
			t.FailAtIf(check.Get[*bool](&m, "content", "sure") == nil, m, "sure is %s, and neither true nor false.", shown(check.At(content, "content", "sure")))
			t.FailAtIf(!slices.Contains([]string{"red", "green"}, m.Text("content", "color")), m, "color is none of the values that are offered.")
			tags := check.Get[[]string](&m, "content", "tags")
			t.FailAtIf(len(tags) == 0 || slices.ContainsFunc(tags, func(tag string) bool { return tag != "a" && tag != "b" }), m, "tags is no list of the values that are offered.")
			t.FailAtIf(!strings.Contains(m.Text("content", "mail"), "@"), m, "mail is no address.")
		})},
	{ID: "AKC-PERM-009", Title: "Questions that are asked at the same time are answered each by an option of its own.", Tier: check.Must, Fact: "tool-calls#requesting-permission", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			others := []option{{"acptest-8", "Allow", "allow_once"}, {"acptest-9", "Reject", "reject_once"}}
			first, second := s.Start(permission, s.question(offered)), s.Start(permission, s.question(others))
			for _, one := range []struct {
				call    *check.Call
				options []option
			}{{first, offered}, {second, others}} {
				m, ok := one.call.Arrives()
				t.Requires(ok, "The client did not answer: it may wait for its user.")
				id := m.Text("outcome", "optionId")
				wrong := m.Text("outcome", "outcome") == "selected" && !slices.ContainsFunc(one.options, func(o option) bool { return o.ID == id })
				t.FailAtIf(wrong, m, "The answer chooses an option of another question.")
			}
		})},
	{ID: "AKC-ELIC-002", Title: "A mode of elicitation that the client has not advertised fails.", Tier: check.Must, Fact: "elicitation", In: check.Both, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			m := s.Call("elicitation/create", s.form("_acptest"))
			t.FailAtIf(m.Error == nil && m.Text("action") == "accept", m, "A mode that does not exist was accepted.")
			if !t.Has("elicitation.form") {
				m = s.Call("elicitation/create", s.form("form"))
				t.FailAtIf(m.Error == nil && m.Text("action") == "accept", m, "A form was accepted, which the client has not advertised.")
			}
			if !t.Has("elicitation.url") {
				m = s.Call("elicitation/create", s.with("mode", "url", "message", "Open it?", "elicitationId", "acptest-url", "url", "http://127.0.0.1:9/acptest"))
				t.FailAtIf(m.Error == nil && m.Text("action") == "accept", m, "A URL was accepted, which the client has not advertised.")
			}
		})},
}

func shown(raw json.RawMessage) string {
	if raw == nil {
		return "missing"
	}
	return string(raw)
}

// consistent asks the question twice, the second time with these options, and checks that the
// decision is the same.
func (s *session) consistent(options []option) {
	first, _ := s.choice(offered...)
	s.t.Requires(first.ID != "", "The client chose no option.")
	second, m := s.choice(options...)
	s.t.FailAtIf(second.ID != "" && second.allows() != first.allows(), m, "Before, the client chose the option of the kind %s.", first.Kind)
}

// cancelled lets the client cancel its turn.
func (s *session) cancelled() {
	from := s.Mark()
	s.t.SkipIf(!s.Interrupt(), "Nothing makes the client cancel its turn.")
	_, ok := s.Arrives(from, is("session/cancel"))
	s.t.Requires(ok, "The client did not cancel its turn when it was interrupted.")
}

func (s *session) form(mode string) map[string]any {
	return s.with("mode", mode, "message", "What is your name?", "requestedSchema", object("type", "object",
		"properties", object("name", object("type", "string", "minLength", 1)), "required", []string{"name"}))
}
