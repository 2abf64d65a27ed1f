package adapter

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/rpcerr"
)

// convert converts a value to the other version. The value must have the same JSON form in both
// versions. Unknown variants are kept.
func convert[T any](v any) (*T, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("adapter: %w", err)
	}
	return decode[T](raw)
}

func decode[T any](raw []byte) (*T, error) {
	v := new(T)
	if err := json.Unmarshal(raw, v); err != nil {
		return nil, fmt.Errorf("adapter: a %T cannot be expressed in the other version: %w", v, err)
	}
	return v, nil
}

// object is a JSON object that is changed before it is decoded.
type object map[string]json.RawMessage

func objectOf(v any) (object, error) {
	o, err := convert[object](v)
	if err != nil {
		return nil, err
	}
	return *o, nil
}

func (o object) rename(from, to string) {
	if v, ok := o[from]; ok {
		delete(o, from)
		o[to] = v
	}
}

// setDefault sets a member if it is absent.
func (o object) setDefault(name, value string) {
	if _, ok := o[name]; !ok {
		o[name] = json.RawMessage(value)
	}
}

// mcpServers returns servers in the form of version 1, which has other kinds of them. Package
// draft2/agent has checked them against the capabilities of the agent.
func mcpServers(list []acp2.MCPServer) ([]acp.MCPServer, error) {
	var out []acp.MCPServer
	for _, server := range list {
		switch s := server.(type) {
		case *acp2.MCPServerStdio:
			out = append(out, &acp.MCPServerStdio{Name: s.Name, Command: string(s.Command), Args: s.Args, Env: s.Env, Meta: s.Meta})
		case *acp2.MCPServerHTTP:
			out = append(out, &acp.MCPServerHTTP{Name: s.Name, URL: s.URL, Headers: s.Headers, Meta: s.Meta})
		default:
			return nil, rpcerr.InvalidParams(nil).WithDetail("mcpServers: the agent supports servers of type stdio and http only")
		}
	}
	return out, nil
}

func paths(list []acp2.AbsolutePath) []string {
	if list == nil {
		return nil
	}
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = string(p)
	}
	return out
}

// authMethods returns authentication methods in the form of version 2.
func authMethods(list []acp.AuthMethod) ([]acp2.AuthMethod, error) {
	var all []acp2.AuthMethod
	for _, method := range list {
		switch m := method.(type) {
		case *acp.AuthMethodAgent:
			all = append(all, &acp2.AuthMethodAgent{MethodID: acp2.AuthMethodID(m.ID), Name: m.Name, Description: m.Description, Meta: m.Meta})
		case *acp.AuthMethodTerminal:
			t := &acp2.AuthMethodTerminal{MethodID: acp2.AuthMethodID(m.ID), Name: m.Name, Description: m.Description, Args: m.Args, Meta: m.Meta}
			for _, name := range slices.Sorted(maps.Keys(m.Env)) {
				t.Env = append(t.Env, acp2.EnvVariable{Name: name, Value: m.Env[name]})
			}
			all = append(all, t)
		case *acp.UnknownAuthMethod:
			o, err := objectOf(m)
			if err != nil {
				return nil, err
			}
			o.rename("id", "methodId")
			raw, err := json.Marshal(o)
			if err != nil {
				return nil, err
			}
			all = append(all, &acp2.UnknownAuthMethod{Type: m.Type, Raw: raw})
		}
	}
	return all, nil
}

// toolCall returns a tool call or its update in the form of version 2. v is an *acp.ToolCall or an
// acp.ToolCallUpdate.
func toolCall(v any, content []acp.ToolCallContent) (*acp2.ToolCallUpdate, error) {
	o, err := objectOf(v)
	if err != nil {
		return nil, err
	}
	for name, value := range o {
		if string(value) == "null" || string(value) == `""` {
			delete(o, name) // null means unchanged in version 1, cleared in version 2
		}
	}
	if content != nil {
		items := []any{}
		for _, c := range content {
			if d, ok := c.(*acp.Diff); ok {
				diff := agent2.Diff(d.Path, d.OldText, &d.NewText)
				diff.Meta = d.Meta
				items = append(items, diff)
			} else {
				items = append(items, c)
			}
		}
		if o["content"], err = json.Marshal(items); err != nil {
			return nil, err
		}
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	u, err := decode[acp2.ToolCallUpdate](raw)
	if err != nil {
		return nil, err
	}
	locations, _ := u.Locations.Get()
	for i := range locations {
		if line := locations[i].Line; line != nil && *line == 0 {
			locations[i].Line = nil // version 2 counts from 1
		}
	}
	return u, nil
}

// configOptions returns options in the form of version 2.
func configOptions(list []acp.SessionConfigOption) ([]acp2.SessionConfigOption, error) {
	out := make([]acp2.SessionConfigOption, 0, len(list))
	for _, option := range list {
		o, err := objectOf(option)
		if err != nil {
			return nil, err
		}
		o.rename("id", "configId")
		if s, ok := option.Kind.(*acp.SessionConfigSelect); ok && s.Options.Grouped != nil {
			groups := []acp2.SessionConfigSelectGroup{}
			for _, g := range s.Options.Grouped {
				group, err := objectOf(g)
				if err != nil {
					return nil, err
				}
				group.rename("group", "groupId")
				converted, err := convert[acp2.SessionConfigSelectGroup](group)
				if err != nil {
					return nil, err
				}
				groups = append(groups, *converted)
			}
			if o["options"], err = json.Marshal(groups); err != nil {
				return nil, err
			}
		}
		converted, err := convert[acp2.SessionConfigOption](o)
		if err != nil {
			return nil, err
		}
		out = append(out, *converted)
	}
	return out, nil
}

// commands returns slash commands in the form of version 2, where commands and their input have a
// type.
func commands(list []acp.AvailableCommand) []acp2.AvailableCommand {
	out := make([]acp2.AvailableCommand, 0, len(list))
	for _, c := range list {
		command := &acp2.Command{Name: c.Name, Description: c.Description, Meta: c.Meta}
		switch in := c.Input.(type) {
		case *acp.UnstructuredCommandInput:
			command.Input = &acp2.TextCommandInput{Hint: in.Hint, Meta: in.Meta}
		case nil:
		default:
			command.Input = &acp2.TextCommandInput{} // version 1 defines no other kind of input
		}
		out = append(out, command)
	}
	return out
}
