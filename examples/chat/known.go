package main

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/client/permission"
)

// knownTools returns what the tool calls of an agent do whose tools are known, as
// permission.Options.Extract. The commands of examples/agent are in the input of the tool
// call as they will run, so the user sees them in the agent's question, and consent to it
// is consent to the command: without this, the user would be asked twice.
func knownTools(agent string, t *permission.Tool) ([]permission.Operation, bool) {
	if agent != "acpkit-example-agent" || t.Kind != "execute" {
		return nil, false
	}
	var in struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Cwd     string   `json:"cwd"`
	}
	if err := json.Unmarshal(t.Input, &in); err != nil || in.Command == "" {
		return nil, false
	}
	return []permission.Operation{{
		Action: permission.ActionCommand, Argv: append([]string{in.Command}, in.Args...), Cwd: in.Cwd,
		Shell: len(in.Args) == 0, // that agent sends a command alone only as a line for the shell
	}}, true
}
