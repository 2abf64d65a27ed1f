package chat_test

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/loop/chat"
	"github.com/acpkit/go-sdk/internal/pipenet"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

//go:embed testdata/habits.txt
var habits string

// habit is one entry of habits.txt.
type habit struct {
	name, body string
	status     int
	header     [2]string
	want       []string
}

func habitsOf(t *testing.T) (all []habit) {
	_, entries, _ := strings.Cut(habits, "\n== ")
	for entry := range strings.SplitSeq(entries, "\n== ") {
		title, rest, _ := strings.Cut(entry, "\n")
		name, source, ok := strings.Cut(title, " | ")
		require.True(t, ok && source != "", "%s: where is it from?", title)
		h := habit{name: name, status: 200}
		for line := range strings.Lines(rest) {
			line = strings.TrimSuffix(line, "\n")
			first, value, _ := strings.Cut(line, " ")
			switch first {
			case "status":
				code, header, _ := strings.Cut(value, " ")
				h.status, _ = strconv.Atoi(code)
				h.header[0], h.header[1], _ = strings.Cut(header, ": ")
			case ">":
				h.want = append(h.want, value)
			case "d":
				h.body += `data: {"choices":[{"index":0,"delta":` + value + `}]}` + "\n\n"
			case "t":
				h.body += `data: {"choices":[{"index":0,"delta":{"tool_calls":[` + value + `]}}]}` + "\n\n"
			case "f":
				h.body += `data: {"choices":[{"index":0,"delta":{},"finish_reason":` + strconv.Quote(value) + `}]}` + "\n\n"
			case "D":
				h.body += "data: [DONE]\n\n"
			default:
				h.body += line + "\n"
			}
		}
		all = append(all, h)
	}
	return all
}

func (h *habit) serve(w http.ResponseWriter, _ *http.Request) {
	if h.header[0] != "" {
		w.Header().Set(h.header[0], h.header[1])
	}
	w.WriteHeader(h.status)
	io.WriteString(w, h.body)
}

// Each known answer of a server means the same to the loop, however its lines end.
func TestHabits(t *testing.T) {
	for _, h := range habitsOf(t) {
		for end, replace := range map[string]*strings.Replacer{"LF": strings.NewReplacer(), "CRLF": strings.NewReplacer("\n", "\r\n"), "CR": strings.NewReplacer("\n", "\r"), "BOM": strings.NewReplacer()} {
			t.Run(h.name+" "+end, func(t *testing.T) {
				t.Parallel()
				sent := h
				sent.body = replace.Replace(h.body)
				if end == "BOM" {
					sent.body = "\ufeff" + sent.body
				}
				got, err := said(t, chat.New(&chat.Options{BaseURL: "http://127.0.0.1/v1", Model: "m", Client: pipenet.Serve(t, http.HandlerFunc(sent.serve), nil)}))
				if err != nil {
					e, ok := kind.From(err)
					require.True(t, ok, err)
					want, message, _ := strings.Cut(strings.TrimPrefix(h.want[len(h.want)-1], "error "), ": ")
					require.Equal(t, want, string(e.Kind), err)
					assert.Contains(t, e.Message, message)
					assert.NotEmpty(t, e.Hint)
					assert.Equal(t, e.Kind == kind.ContextTooLarge, errors.Is(err, loop.ErrTooLong))
					got = append(got, h.want[len(h.want)-1])
				}
				assert.Equal(t, h.want, got)
			})
		}
	}
}

// said returns the events of an answer in the words of habits.txt.
func said(t *testing.T, m *chat.Model) (all []string, err error) {
	var thought, text, usage, stop string
	var calls [][3]string
	for e, failed := range m.Generate(t.Context(), hello) {
		err = failed
		switch e := e.(type) {
		case loop.Thought:
			thought += string(e)
		case loop.Text:
			text += string(e)
		case loop.CallDelta:
			for len(calls) <= e.Index {
				calls = append(calls, [3]string{})
			}
			c := &calls[e.Index]
			if c[0] == "" {
				c[0] = e.ID
			}
			if c[1] == "" {
				c[1] = e.Name
			}
			c[2] += e.Input
		case loop.Usage:
			count := func(n *uint64) uint64 {
				if n == nil {
					return 0
				}
				return *n
			}
			usage = fmt.Sprintf("usage %d+%d of which %d cached and %d thought", e.Tokens.InputTokens, e.Tokens.OutputTokens, count(e.Tokens.CachedReadTokens), count(e.Tokens.ThoughtTokens))
			if e.Cost != nil {
				usage += fmt.Sprintf(", %v %s", e.Cost.Amount, e.Cost.Currency)
			}
		case loop.Stop:
			if calls == nil {
				stop = strings.TrimRight(fmt.Sprintf("stop %s %s", e.Reason, e.Text), " ")
			}
		}
	}
	if thought != "" {
		all = append(all, "thought "+thought)
	}
	if text != "" {
		all = append(all, "text "+text)
	}
	for _, c := range calls {
		all = append(all, fmt.Sprintf("call %s %s(%s)", c[0], c[1], c[2]))
	}
	for _, more := range []string{usage, stop} {
		if more != "" {
			all = append(all, more)
		}
	}
	return all, err
}
