package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
)

// command is something that the user can type at the prompt after a colon.
type command struct {
	name, args, help string
	do               func(c *chat, ctx context.Context, args []string) error
	// values returns the possible values of the argument after args. Nil means that there are none.
	values func(c *chat, args []string) []string
}

func commands() []command {
	return []command{
		{"help", "", "list the commands", (*chat).help, nil},
		{"mode", "[MODE]", "show or change how the agent works", (*chat).setMode, (*chat).modeNames},
		{"set", "[OPTION [VALUE]]", "show or change an option of the session", (*chat).setOption, (*chat).optionNames},
		{"sessions", "", "list the sessions of this folder", func(c *chat, ctx context.Context, _ []string) error { return c.listSessions(ctx) }, nil},
		{"load", "NUMBER|ID", "go on with a session", (*chat).loadSession, (*chat).sessionNames},
		{"new", "", "start a new session", (*chat).newSession, nil},
		{"quit", "", "end the program, as Ctrl-D does", nil, nil},
	}
}

// do runs a line that begins with a colon.
func (c *chat) do(ctx context.Context, line string) error {
	words := strings.Fields(line[1:])
	if len(words) == 0 {
		return c.help(ctx, nil)
	}
	i := slices.IndexFunc(commands(), func(k command) bool { return k.name == words[0] })
	if i < 0 {
		return fmt.Errorf("there is no command :%s; :help lists them", words[0])
	}
	return commands()[i].do(c, ctx, words[1:])
}

func (c *chat) snapshot() *thread.Snapshot { return c.view.Load().thread.Snapshot() }

func (c *chat) help(context.Context, []string) error {
	for _, k := range commands() {
		c.screen.line(plain, "  %-24s %s", strings.TrimSpace(":"+k.name+" "+k.args), k.help)
	}
	for _, k := range c.snapshot().Commands {
		name := "/" + k.Name
		if k.Hint != "" {
			name += " <" + k.Hint + ">"
		}
		c.screen.line(plain, "  %-24s %s", name, k.Description)
	}
	return nil
}

func marked(set bool) string {
	if set {
		return "*"
	}
	return " "
}

func (c *chat) setMode(ctx context.Context, args []string) error {
	modes := c.snapshot().Modes
	switch {
	case modes == nil:
		return errors.New("the session has no modes; :set lists its options")
	case len(args) > 0:
		return c.session.SetMode(ctx, acp.SessionModeID(args[0]))
	}
	for _, m := range modes.Available {
		c.screen.line(plain, "%s %-12s %s", marked(m.ID == modes.Current), m.ID, m.Description)
	}
	return nil
}

func (c *chat) modeNames(args []string) (names []string) {
	if modes := c.snapshot().Modes; modes != nil && len(args) == 0 {
		for _, m := range modes.Available {
			names = append(names, m.ID)
		}
	}
	return names
}

func (c *chat) setOption(ctx context.Context, args []string) error {
	options := c.snapshot().Options
	if len(args) == 0 {
		for _, o := range options {
			c.screen.line(plain, "  %-12s %-12s %s", o.ID, value(&o), strings.Join(values(&o), " | "))
		}
		if len(options) == 0 {
			c.screen.note("the session has no options")
		}
		return nil
	}
	i := slices.IndexFunc(options, func(o thread.Option) bool { return o.ID == args[0] })
	if i < 0 {
		return fmt.Errorf("there is no option %s; :set lists them", args[0])
	}
	o := &options[i]
	switch {
	case len(args) == 1:
		c.screen.line(plain, "%s: %s%s", o.ID, value(o), inBrackets(strings.Join(values(o), " | ")))
		return nil
	case o.Type == thread.OptionBoolean && !slices.Contains(values(o), args[1]):
		return fmt.Errorf("%s is on or off", o.ID)
	case o.Type == thread.OptionBoolean:
		return c.session.SetConfigOptionBool(ctx, acp.SessionConfigID(o.ID), args[1] == "on")
	}
	if offered := values(o); len(offered) > 0 && !slices.Contains(offered, args[1]) {
		return fmt.Errorf("%s is one of %s", o.ID, strings.Join(offered, ", "))
	}
	return c.session.SetConfigOption(ctx, acp.SessionConfigID(o.ID), acp.SessionConfigValueID(args[1]))
}

func value(o *thread.Option) string {
	switch {
	case o.Type != thread.OptionBoolean:
		return o.Value
	case o.On:
		return "on"
	}
	return "off"
}

func values(o *thread.Option) (ids []string) {
	if o.Type == thread.OptionBoolean {
		return []string{"on", "off"}
	}
	for _, g := range o.Groups {
		for _, v := range g.Values {
			ids = append(ids, v.ID)
		}
	}
	return ids
}

func (c *chat) optionNames(args []string) (names []string) {
	for _, o := range c.snapshot().Options {
		switch {
		case len(args) == 0:
			names = append(names, o.ID)
		case len(args) == 1 && o.ID == args[0]:
			return values(&o)
		}
	}
	return names
}

func (c *chat) newSession(ctx context.Context, _ []string) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	c.screen.line(dim, "(a new session)")
	return nil
}

// loadSession takes an id, or a number from the last list.
func (c *chat) loadSession(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("which session? :sessions lists them, :load 1 takes the first")
	}
	id := acp.SessionID(args[0])
	if n, err := strconv.Atoi(args[0]); err == nil && n >= 1 && n <= len(c.sessions) {
		id = c.sessions[n-1].SessionID
	}
	if err := c.load(ctx, id); err != nil {
		return err
	}
	c.screen.line(dim, "(session %s)", id)
	return nil
}

func (c *chat) sessionNames(args []string) (names []string) {
	for _, s := range c.sessions {
		if len(args) == 0 {
			names = append(names, string(s.SessionID))
		}
	}
	return names
}

func (c *chat) complete(before string) (lines []string) {
	var all []string
	prefix := before[:strings.LastIndexAny(before, " ")+1]
	switch {
	case strings.HasPrefix(before, "/") && prefix == "":
		for _, k := range c.snapshot().Commands {
			all = append(all, "/"+k.Name+" ")
		}
	case strings.HasPrefix(before, ":") && prefix == "":
		for _, k := range commands() {
			all = append(all, ":"+k.name+strings.Repeat(" ", min(1, len(k.args))))
		}
	case strings.HasPrefix(before, ":"):
		words := strings.Fields(prefix[1:])
		for _, k := range commands() {
			if len(words) > 0 && k.name == words[0] && k.values != nil {
				all = k.values(c, words[1:])
			}
		}
	}
	if !strings.HasPrefix(before, "/") && !strings.HasPrefix(before, ":") {
		prefix, all = "", suggestions(c.snapshot().Suggestions)
	}
	for _, s := range all {
		if strings.HasPrefix(prefix+s, before) {
			lines = append(lines, prefix+s)
		}
	}
	return lines
}
