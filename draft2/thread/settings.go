package thread

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/fold"
)

func optionsOf(list []acp.SessionConfigOption) []thread.Option {
	return fold.Each(list, func(o acp.SessionConfigOption) thread.Option {
		option := thread.Option{ID: string(o.ConfigID), Name: o.Name, Description: o.Description, Category: string(o.Category), Meta: thread.Meta(o.Meta)}
		switch k := o.Kind.(type) {
		case *acp.SessionConfigSelect:
			option.Type, option.Value, option.Groups = thread.OptionSelect, string(k.CurrentValue), groups(k.Options)
		case *acp.SessionConfigBoolean:
			option.Type, option.On = thread.OptionBoolean, k.CurrentValue
		case *acp.UnknownSessionConfigKind:
			option.Type, option.Raw = k.Type, k.Raw
		}
		return option
	})
}

// groups returns the values of an option. Those that are in no group are in one without a name.
func groups(o acp.SessionConfigSelectOptions) []thread.OptionGroup {
	all := fold.Each(o.Grouped, func(g acp.SessionConfigSelectGroup) thread.OptionGroup {
		return thread.OptionGroup{ID: string(g.GroupID), Name: g.Name, Values: values(g.Options), Meta: thread.Meta(g.Meta)}
	})
	if len(o.Ungrouped) > 0 {
		all = append([]thread.OptionGroup{{Values: values(o.Ungrouped)}}, all...)
	}
	return all
}

func values(list []acp.SessionConfigSelectOption) []thread.OptionValue {
	return fold.Each(list, func(v acp.SessionConfigSelectOption) thread.OptionValue {
		return thread.OptionValue{ID: string(v.Value), Name: v.Name, Description: v.Description, Meta: thread.Meta(v.Meta)}
	})
}

func commandsOf(list []acp.AvailableCommand) []thread.Command {
	var all []thread.Command
	for _, c := range list {
		switch c := c.(type) {
		case *acp.Command:
			all = append(all, command(c))
		case *acp.Skill:
			all = append(all, thread.Command{Name: c.Name, Description: c.Description, Skill: true, Meta: thread.Meta(c.Meta)})
		case *acp.UnknownAvailableCommand:
			var named struct{ Name, Description string }
			_ = json.Unmarshal(c.Raw, &named) // without a name it cannot be typed, but Raw is there
			all = append(all, thread.Command{Name: named.Name, Description: named.Description, Raw: c.Raw})
		}
	}
	return all
}

func command(c *acp.Command) thread.Command {
	command := thread.Command{Name: c.Name, Description: c.Description, Meta: thread.Meta(c.Meta)}
	switch in := c.Input.(type) {
	case *acp.TextCommandInput:
		command.TakesInput, command.Hint = true, in.Hint
		command.Meta = fold.Meta(command.Meta, thread.Meta(in.Meta))
	case *acp.UnknownAvailableCommandInput:
		command.TakesInput, command.Raw = true, in.Raw
	}
	return command
}

func plan(u *acp.PlanUpdate) thread.Event {
	p, meta := thread.Plan{}, acp.Meta(nil)
	switch c := u.Plan.(type) {
	case *acp.PlanItems:
		p.ID, meta = string(c.PlanID), c.Meta
		p.Entries = fold.Each(c.Entries, func(e acp.PlanEntry) thread.PlanEntry {
			return thread.PlanEntry{Content: e.Content, Priority: string(e.Priority), Status: string(e.Status), Meta: thread.Meta(e.Meta)}
		})
	case *acp.PlanMarkdown:
		p.ID, p.Markdown, p.Path, meta = string(c.PlanID), c.Content, string(c.Path), c.Meta
	case *acp.UnknownPlanUpdateContent:
		var named struct {
			PlanID string `json:"planId"`
		}
		_ = json.Unmarshal(c.Raw, &named) // without an id it is the only plan
		p.ID, p.Type, p.Raw = named.PlanID, c.Type, c.Raw
	}
	p.Meta = fold.Meta(thread.Meta(u.Meta), thread.Meta(meta))
	return thread.PlanChanged{Plan: p}
}

func permissionOptions(list []acp.PermissionOption) []thread.PermissionOption {
	return fold.Each(list, func(o acp.PermissionOption) thread.PermissionOption {
		return thread.PermissionOption{ID: string(o.OptionID), Name: o.Name, Kind: string(o.Kind), Meta: thread.Meta(o.Meta)}
	})
}

func tokens(u *acp.Usage) *thread.Tokens {
	if u == nil {
		return nil
	}
	return &thread.Tokens{
		Total: u.TotalTokens, Input: u.InputTokens, Output: u.OutputTokens, Thought: u.ThoughtTokens,
		CachedRead: u.CachedReadTokens, CachedWrite: u.CachedWriteTokens, Meta: thread.Meta(u.Meta),
	}
}
