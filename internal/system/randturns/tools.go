package randturns

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
)

// What the modes do with calls that do not only read.
var (
	modes  = []string{"ask", "auto", "plan"} // ask a person, allow, deny
	models = []string{"small", "medium", "large"}
)

// openStatus is the status of a call in a line until its turn ends.
const openStatus = "(open)"

// call is the input of a tool, and what the person says to it.
type call struct {
	Tool   string `json:"tool"`
	What   string `json:"what"`
	Do     string `json:"do"`
	Say    string `json:"say"`
	Answer string `json:"answer"` // the id of the option, or "cancelled"
}

func request(c call) tools.Request {
	in, _ := json.Marshal(c) // texts
	return tools.Request{Name: c.Tool, Input: in}
}

// title is what the client shows. It ends with what the person will answer.
func (c call) title() string {
	if c.Tool == "look" {
		return "Look " + c.What
	}
	return fmt.Sprintf("%s %s (%s)", c.Tool, c.What, c.Answer)
}

// answerOf returns what the person answers to a question with this title.
func answerOf(title string) string {
	return strings.TrimSuffix(title[strings.LastIndexByte(title, '(')+1:], ")")
}

// batch adds calls of tools.
func (a *author) batch() {
	a.open = ""
	var all []call
	announced := a.one(3)
	for range 1 + a.r.IntN(3) {
		c := call{
			Tool: []string{"look", "edit", "run"}[a.r.IntN(3)], What: fmt.Sprintf("/w/file%d", a.r.IntN(2)), Say: a.words(),
			Do:     []string{"ok", "ok", "ok", "fail", "error", "panic", "show", "image"}[a.r.IntN(8)],
			Answer: []string{"allow_once", "allow_once", "allow_always", "allow_always", "allow_always", "reject_once", "reject_once", "cancelled"}[a.r.IntN(8)],
		}
		if len(a.rules) > 0 && a.one(2) { // nobody is asked for what a rule allows
			c.Tool, c.What, _ = strings.Cut(slices.Min(slices.Collect(maps.Keys(a.rules))), " ")
			c.Answer = "reject_once"
		}
		if c.Tool == "look" { // such calls begin in any order
			c.What += fmt.Sprint("-", a.id())
			announced = true
		}
		all = append(all, c)
		a.line(a.outcome(c))
	}
	a.do(func(ctx context.Context, s *kit.Session) error {
		var reqs []tools.Request
		for _, c := range all {
			r := request(c)
			if announced {
				var err error
				if r.ToolCallID, err = s.Announce(ctx, c.Tool); err != nil {
					return err
				}
			}
			reqs = append(reqs, r)
		}
		done, err := s.Run(ctx, reqs...)
		if len(done) != len(reqs) {
			return errors.New("results are missing")
		}
		return err
	})
}

// outcome returns the line of a call.
func (a *author) outcome(c call) string {
	var content []string
	if c.Tool == "edit" {
		content = append(content, "diff")
	}
	status, rule := "failed", c.Tool+" "+c.What
	allowed := c.Tool == "look" || a.seen.Mode == "auto"
	if !a.over && !allowed && a.seen.Mode == "ask" {
		switch {
		case a.rules[rule]:
			allowed = true
		case c.Answer == "cancelled":
			a.over = true
		case c.Answer == "allow_always":
			a.rules[rule], allowed = true, true
		case c.Answer == "allow_once":
			allowed = true
		}
	}
	switch {
	case a.over:
		content = append(content, "Cancelled")
	case !allowed && a.seen.Mode == "plan":
		content = append(content, "Denied by the agent: in plan mode nothing is changed")
	case !allowed:
		content = append(content, "Rejected by the user")
	case c.Do == "error", c.Do == "panic":
		content = append(content, "Internal error")
	case c.Do == "fail":
		content = append(content, c.Say)
	case c.Do == "image":
		status, content = "completed", append(content, "[image]")
	case c.Do == "show":
		status, content = "completed", []string{"diff", "shown", c.Say}
	default:
		status, content = "completed", append(content, c.Say)
	}
	return "call: " + c.title() + " " + status + ": " + strings.Join(content, ": ")
}

// ownCall adds a call that the agent reports without package tools. It may stay open.
func (a *author) ownCall() {
	a.open = ""
	call := &acp.ToolCall{ToolCallID: acp.ToolCallID(fmt.Sprint("own", a.id())), Title: a.words(), Kind: acp.ToolKindFetch, Status: acp.ToolCallStatusInProgress}
	updates := []*acp.ToolCallUpdate{{ToolCallID: call.ToolCallID, Title: a.words(), RawOutput: json.RawMessage(`{"_meta":1}`)}}
	title, status := updates[0].Title, openStatus
	text := a.words()
	updates = append(updates, &acp.ToolCallUpdate{ToolCallID: call.ToolCallID, Content: []acp.ToolCallContent{acp.ToolText(text)}})
	if !a.one(3) {
		status = "completed"
		updates = append(updates, &acp.ToolCallUpdate{ToolCallID: call.ToolCallID, Status: acp.ToolCallStatusCompleted},
			&acp.ToolCallUpdate{ToolCallID: call.ToolCallID, Status: acp.ToolCallStatusInProgress, Title: "too late"})
	}
	at := a.line("call: " + title + " " + status + ": " + text)
	if status == openStatus {
		a.calls[at] = true
	}
	a.do(func(ctx context.Context, s *kit.Session) error {
		err := s.Update(ctx, call)
		for _, u := range updates {
			err = errors.Join(err, s.Update(ctx, u))
		}
		return err
	})
}

// Kit returns the options of an agent that plays the script. Each run of a tool that writes is
// passed to ran, which may be nil.
func (sc *Script) Kit(ran func(id acp.ToolCallID)) *kit.Options {
	tool := func(name string, effect tools.Effect) tools.Tool {
		return tools.Tool{
			Name: name, Title: name, Description: name, Kind: acp.ToolKindOther, Effect: effect, Schema: json.RawMessage(`{"type":"object"}`),
			Describe: func(_ context.Context, in json.RawMessage) tools.Summary {
				var c call
				if err := json.Unmarshal(in, &c); err != nil {
					panic(err)
				}
				s := tools.Summary{Title: c.title(), Locations: []acp.ToolCallLocation{{Path: c.What}}}
				if effect != tools.Reads {
					s.Rule = &tools.Rule{What: c.What, Label: c.What}
				}
				if name == "edit" {
					s.Preview = []acp.ToolCallContent{&acp.Diff{Path: c.What, NewText: c.Say}}
				}
				return s
			},
			Run: func(ctx context.Context, c *tools.Call) (tools.Result, error) {
				if ran != nil && effect != tools.Reads {
					ran(c.ID())
				}
				var in call
				if err := c.Decode(&in); err != nil {
					return tools.Result{}, err
				}
				return in.run(ctx, c)
			},
		}
	}
	o := &kit.Options{
		Info: acp.Implementation{Name: "random", Version: "1"},
		Tools: func(*kit.Session) []tools.Tool {
			return []tools.Tool{tool("look", tools.Reads), tool("edit", tools.Writes), tool("run", tools.Executes)}
		},
		Gate: func(s *kit.Session, c *tools.Call) tools.Decision {
			switch mode := s.Mode(); {
			case c.Effect() == tools.Reads || mode == "auto":
				return tools.Allow
			case mode == "plan":
				return tools.Denyf("in plan mode nothing is changed")
			}
			return tools.Ask
		},
		Settings: kit.Settings{{ID: "model", Name: "Model"}},
		Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
			var n int
			if _, err := fmt.Sscanf(acp.PlainText(p.Blocks[0]), "turn %d:", &n); err != nil {
				return "", err
			}
			for _, step := range sc.Turns[n].steps {
				if err := step(ctx, s); err != nil {
					return "", err
				}
			}
			return sc.Turns[n].end()
		},
	}
	for _, m := range modes {
		o.Modes = append(o.Modes, acp.SessionMode{ID: acp.SessionModeID(m), Name: m})
	}
	for _, m := range models {
		o.Settings[0].Values = append(o.Settings[0].Values, acp.SessionConfigSelectOption{Value: acp.SessionConfigValueID(m), Name: m})
	}
	return o
}

func (in call) run(ctx context.Context, c *tools.Call) (tools.Result, error) {
	switch in.Do {
	case "fail":
		return tools.Result{}, tools.Failf("%s", in.Say)
	case "error":
		return tools.Result{}, errors.New("a secret") //errlint:ignore nobody reads it
	case "panic":
		panic("a secret")
	case "image":
		image := &acp.Content{Content: &acp.ImageContent{MIMEType: "image/png", Data: "AAAA"}}
		return tools.Result{Content: []acp.ToolCallContent{image}, Raw: map[string]int{"_meta": 1}}, nil
	case "show":
		old := "old"
		err := errors.Join(c.Progress(ctx, "half"), c.Diff(ctx, in.What, &old, "new"), c.At(ctx, in.What, 3), c.Show(ctx, acp.ToolText("shown")), c.Progress(ctx, "nearly"))
		return tools.Text(in.Say), err
	case "wait":
		err := c.Progress(ctx, Cancel)
		<-ctx.Done()
		return tools.Result{}, errors.Join(err, ctx.Err())
	}
	return tools.Text(in.Say), nil
}
