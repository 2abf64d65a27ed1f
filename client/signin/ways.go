package signin

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/weblink"
)

// Kind is the kind of a [Way].
type Kind string

// The values of [Kind].
const (
	// KindAgent is a call of authenticate; the agent does the rest.
	KindAgent Kind = "agent"
	// KindTerminal is a command on the user's terminal.
	KindTerminal Kind = "terminal"
	// KindVariables are variables in the environment of the agent.
	KindVariables Kind = "variables"
	// KindUnknown is any other way, also a command that is too long to be read by a person.
	KindUnknown Kind = "unknown"
)

// Way is one way to sign in.
type Way struct {
	ID                acp.AuthMethodID
	Name, Description string
	Kind              Kind
	// Args and Env are added to the command that runs on the terminal.
	Args []string
	Env  map[string]string
	// Command is the program to run instead of the agent's; older agents name one.
	Command string
	// Variables lists the variables of a KindVariables.
	Variables []Variable
	// Link is the address where the user gets the values, http or https, in ASCII. It is empty if the
	// agent names none, or one that is not the address of a web page.
	Link string
}

func (w *Way) does(other *Way) bool {
	return w.Kind == other.Kind && w.Command == other.Command && slices.Equal(w.Args, other.Args) &&
		maps.Equal(w.Env, other.Env) && slices.Equal(w.Variables, other.Variables)
}

// Instruction returns a short text for users who sign in by hand: which command to run, as it
// is written for a POSIX shell, or which variables to set. command is the text for the
// agent's command. Instruction returns "" if the user cannot do it by hand, as for a call.
func (w *Way) Instruction(command string) string {
	switch w.Kind {
	case KindTerminal:
		words := []string{"run"}
		for _, name := range slices.Sorted(maps.Keys(w.Env)) {
			words = append(words, name+"="+quoted(w.Env[name]))
		}
		if w.Command != "" {
			command = quoted(w.Command)
		}
		words = append(words, command)
		for _, arg := range w.Args {
			words = append(words, quoted(arg))
		}
		return strings.Join(words, " ")
	case KindVariables:
		var names, optional []string
		for _, v := range w.Variables {
			if v.Optional {
				optional = append(optional, v.Name)
			} else {
				names = append(names, v.Name)
			}
		}
		text := "set " + strings.Join(names, ", ")
		if len(names) == 0 {
			text = "set any of " + strings.Join(optional, ", ")
		}
		text += " in the agent's environment"
		if w.Link != "" {
			text += ", with a value from " + w.Link
		}
		return text
	}
	return ""
}

// quoted returns a word with the quotes that a shell needs.
func quoted(word string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:=@%+,", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func quotedAll(words []string) string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = quoted(word)
	}
	return strings.Join(all, " ")
}

// Variable is a variable in the environment of the agent.
type Variable struct {
	Name, Label string
	// Secret reports whether the value must not be shown.
	Secret bool
	// Optional reports whether the agent works without it.
	Optional bool
}

// longestInstruction is the number of bytes of an instruction that a person reads.
const longestInstruction = 4 << 10

// Ways returns the ways to sign in of the given methods, in their order.
func Ways(methods []acp.AuthMethod) []Way {
	var ways []Way
	for _, m := range methods {
		switch m := m.(type) {
		case *acp.AuthMethodAgent:
			w := Way{ID: m.ID, Name: m.Name, Description: m.Description, Kind: KindAgent}
			terminalInMeta(&w, m.Meta)
			ways = append(ways, w)
		case *acp.AuthMethodTerminal:
			ways = append(ways, Way{ID: m.ID, Name: m.Name, Description: m.Description, Kind: KindTerminal, Args: m.Args, Env: m.Env})
		case *acp.UnknownAuthMethod:
			ways = append(ways, unknown(m))
		}
	}
	for i, w := range ways {
		if len(w.Instruction("")) > longestInstruction {
			ways[i] = Way{ID: w.ID, Name: w.Name, Description: w.Description, Kind: KindUnknown}
		}
	}
	return ways
}

// OlderTerminal is the key in _meta with which older agents support sign-in on a terminal.
// In the client's capabilities it reports that the user can sign in on a terminal; in a
// method of the agent it has the command.
const OlderTerminal = "terminal-auth"

// terminalInMeta reads the command of older agents from _meta.
func terminalInMeta(w *Way, meta acp.Meta) {
	raw, err := json.Marshal(meta[OlderTerminal])
	if err != nil {
		return
	}
	var t struct {
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env"`
		Label   string            `json:"label"`
	}
	if json.Unmarshal(raw, &t) != nil || t.Command == "" {
		return
	}
	w.Kind, w.Command, w.Args, w.Env = KindTerminal, t.Command, t.Args, t.Env
	w.Name = cmp.Or(w.Name, t.Label)
}

// unknown reads a method of a type that the protocol does not define.
func unknown(m *acp.UnknownAuthMethod) Way {
	var read struct {
		ID          acp.AuthMethodID  `json:"id"`
		Name        string            `json:"name"`
		Description string            `json:"description"`
		Link        string            `json:"link"`
		VarName     string            `json:"varName"`
		Vars        []json.RawMessage `json:"vars"`
		Meta        acp.Meta          `json:"_meta"`
	}
	w := Way{Kind: KindUnknown}
	if json.Unmarshal(m.Raw, &read) != nil {
		return w
	}
	w.ID, w.Name, w.Description = read.ID, read.Name, read.Description
	if link, err := weblink.Parse(read.Link); err == nil {
		w.Link = link.URL
	}
	if m.Type == "env_var" {
		if read.VarName != "" {
			w.Variables = append(w.Variables, Variable{Name: read.VarName, Secret: true})
		}
		for _, raw := range read.Vars {
			if v, ok := variable(raw); ok {
				w.Variables = append(w.Variables, v)
			}
		}
		if len(w.Variables) > 0 {
			w.Kind = KindVariables
		}
	}
	terminalInMeta(&w, read.Meta)
	return w
}

// variable reads a variable: an object, or only its name. It refuses names that an environment
// cannot contain.
func variable(raw json.RawMessage) (Variable, bool) {
	var read struct {
		Name     string `json:"name"`
		Label    string `json:"label"`
		Secret   *bool  `json:"secret"`
		Optional bool   `json:"optional"`
	}
	if json.Unmarshal(raw, &read) != nil && json.Unmarshal(raw, &read.Name) != nil {
		return Variable{}, false
	}
	ok := read.Name != "" && !strings.ContainsAny(read.Name, "=\x00")
	return Variable{Name: read.Name, Label: read.Label, Secret: read.Secret == nil || *read.Secret, Optional: read.Optional}, ok
}
