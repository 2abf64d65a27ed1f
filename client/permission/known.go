package permission

import (
	"slices"
	"strings"
)

// knownTools are the tools of agents in use that run a line of a shell: by the name of the
// agent, the name of the tool, and members of its input that do not change what runs.
var knownTools = map[string]struct {
	tool  string
	extra []string
}{
	"@agentclientprotocol/claude-agent-acp": {"Bash", []string{"timeout", "run_in_background"}},
	"@agentclientprotocol/codex-acp":        {"exec_command", nil},
}

// ExtractKnown is an Options.Extract for agents in use: with it, a rule that allows "go test"
// allows their questions about that command. It knows the commands of claude-agent-acp and
// codex-acp, which run them themselves. A line that a shell reads as words and nothing else
// is taken as a command with arguments; no rule allows others. The agent is trusted to run
// what it asks about: the name of an agent is a claim too.
func ExtractKnown(agent string, t *Tool) ([]Operation, bool) {
	known, ok := knownTools[agent]
	if !ok || t.Name != known.tool || len(t.Diffs) > 0 {
		return nil, false
	}
	in := readInput(t.Input)
	for _, name := range known.extra {
		delete(in, name)
	}
	// The folder is what the agent says, or the one that its shell is in.
	all, exact := in.commands("")
	if !exact || len(all) != 1 || !in.onlyCommands() {
		return nil, false
	}
	if o := &all[0]; o.Shell {
		words := strings.Fields(o.Argv[0])
		if len(words) > 0 && !slices.ContainsFunc(words, isNoArgument) && !strings.ContainsAny(o.Argv[0], "\r\n") && !isNoWord(words[0]) {
			o.Argv, o.Shell = words, false
		}
	}
	return all, true
}

// isNoArgument reports whether a shell may read the text as anything but an argument.
func isNoArgument(text string) bool {
	return isNoWord(strings.Map(func(r rune) rune {
		if strings.ContainsRune("=:@%+,", r) {
			return '_'
		}
		return r
	}, text))
}
