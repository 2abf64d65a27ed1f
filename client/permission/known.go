package permission

import (
	"slices"
	"strings"
)

// knownAgent describes the form in which an agent sends its tool calls in a question.
type knownAgent struct {
	// shell is the name of the tool that runs a line of a shell. codex-acp sends the name only
	// after its question, so call is the prefix of the ids of its calls. Both are empty if the kind
	// of a tool call is sufficient.
	shell, call string
	// titled reports whether tools are recognized by their titles, because the kinds are not
	// sufficient.
	titled bool
	// extra lists members of the input of a command that do not change what runs.
	extra []string
}

// knownAgents are agents in use, by name.
var knownAgents = map[string]knownAgent{
	"@agentclientprotocol/claude-agent-acp": {shell: "Bash", extra: []string{"timeout", "run_in_background"}},
	"@agentclientprotocol/codex-acp":        {shell: "exec_command"},
	"gemini-cli":                            {call: "run_shell_command__"},
	"goose":                                 {titled: true, extra: []string{"timeout_secs"}},
	"OpenCode":                              {extra: []string{"timeout"}},
	"qwen-code":                             {extra: []string{"timeout", "is_background"}},
	"acpkit-coder":                          {}, // examples/coder, as any agent with workspace.Tools
	"acpkit-example-agent":                  {}, // examples/agent
}

// titledKinds are the kinds of the tools of goose, whose questions have the kind "other".
var titledKinds = map[string]string{"shell": "execute", "read": "read", "write": "edit", "edit": "edit"}

// ExtractKnown is an Options.Extract for agents in use: with it, a rule that allows "go test *"
// allows their questions about such commands, and a rule that allows paths their questions
// about files. It knows claude-agent-acp, codex-acp, gemini-cli, goose, opencode, qwen-code and
// the example agents of this module. The agent is trusted to do what it asks about and nothing else:
// its name, and the kinds and titles that distinguish its tools, are claims too.
//
// For an agent of yours with the tools of agent/workspace, call it with the name "acpkit-coder".
func ExtractKnown(agent string, t *Tool) ([]Operation, bool) {
	a, ok := knownAgents[agent]
	if !ok {
		return nil, false
	}
	in, kind := readInput(t.Input), t.Kind
	if a.titled {
		tool, object, _ := strings.Cut(t.Title, " · ")
		if kind = titledKinds[tool]; object == "" || object != in.text("command") && object != in.text("path") {
			return nil, false
		}
	}
	switch kind {
	case "execute":
		return a.command(t, in)
	case "read":
		all := files(t, in, ActionRead)
		return all, len(all) > 0 && len(t.Diffs) == 0
	case "edit":
		all := files(t, in, ActionWrite)
		return all, len(all) > 0
	}
	return nil, false
}

func (a *knownAgent) command(t *Tool, in input) ([]Operation, bool) {
	if len(t.Diffs) > 0 || a.shell != "" && t.Name != "" && t.Name != a.shell {
		return nil, false
	}
	if a.call != "" { // there is no input, and the title is the line
		found := t.Title != "" && strings.HasPrefix(t.ID, a.call) && len(t.Input) == 0
		return []Operation{{Action: ActionCommand, Argv: []string{t.Title}, Shell: true}}, found
	}
	for _, name := range a.extra {
		delete(in, name)
	}
	// The folder is the one that the agent names, or the current folder of its shell.
	all, exact := in.commands("")
	return all, exact && len(all) == 1 && in.onlyCommands()
}

// files returns what a tool call that reads or writes does to each file that it names.
func files(t *Tool, in input, action Action) []Operation {
	var all []Operation
	seen := map[string]bool{}
	for _, d := range t.Diffs {
		o := Operation{Action: action, Path: d.Path}
		if d.NewText != nil {
			o.Digest = DigestOf(*d.NewText)
		}
		all, seen[d.Path] = append(all, o), true
	}
	for _, name := range slices.Concat(t.Paths, in.paths()) {
		if !seen[name] {
			all, seen[name] = append(all, Operation{Action: action, Path: name}), true
		}
	}
	return all
}
