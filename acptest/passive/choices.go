package passive

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// choice is a config option, as either version writes it.
type choice struct {
	ID, ConfigID, Type string
	CurrentValue       json.RawMessage
	Options            []struct {
		Value   string
		Options []struct{ Value string }
	}
}

func (o *choice) id() string { return o.ID + o.ConfigID }

// offers reports whether a value is one of those of an option. A switch takes every value.
func (o *choice) offers(value string) bool {
	for _, one := range o.Options {
		if one.Options == nil && one.Value == value || slices.ContainsFunc(one.Options, func(in struct{ Value string }) bool { return in.Value == value }) {
			return true
		}
	}
	return o.Type != "select"
}

// offered judges the modes and the options of a session in a result or an update, and keeps the modes. s is
// nil if the session is not known.
func (c *Checker) offered(s *session, payload []byte) {
	var list []choice
	if json.Unmarshal(envelope.Member(payload, "configOptions"), &list) == nil {
		c.options(list)
	}
	var modes struct {
		CurrentModeID  string
		AvailableModes []struct{ ID string }
	}
	if json.Unmarshal(envelope.Member(payload, "modes"), &modes) != nil || modes.AvailableModes == nil || c.version != 1 {
		return
	}
	var ids []string
	for _, one := range modes.AvailableModes {
		ids = append(ids, one.ID)
	}
	if !slices.Contains(ids, modes.CurrentModeID) {
		c.fault(badMode, "The mode %.80q is not offered.", modes.CurrentModeID)
	}
	if s != nil && len(ids) <= choicesAtMost {
		s.modes = ids
	}
}

func (c *Checker) options(list []choice) {
	var ids []string
	for _, o := range list {
		var value string
		if slices.Contains(ids, o.id()) {
			c.fault(sameOption, "Two options have the id %.80q.", o.id())
		}
		ids = append(ids, o.id())
		if json.Unmarshal(o.CurrentValue, &value) == nil && !o.offers(value) {
			c.fault(badValue, "The value %.80q of the option %.80q is not offered.", value, o.id())
		}
	}
}

// mode judges a mode that is set, or that the agent tells.
func (c *Checker) mode(s *session, id string) {
	if s.modes != nil && !slices.Contains(s.modes, id) {
		c.fault(badMode, "The mode %.80q is not offered.", id)
	}
}

// commands judges the names of the slash commands of a session.
func (c *Checker) commands(payload []byte) {
	var list []struct{ Name *string }
	if json.Unmarshal(envelope.Member(payload, "availableCommands"), &list) != nil {
		return // judged by the schema
	}
	names := map[string]bool{}
	for _, one := range list {
		if one.Name == nil {
			continue
		}
		name := *one.Name
		if names[name] || name == "" || name[0] == '/' || c.version == 2 && strings.ContainsAny(name, " \t\n") {
			c.fault(badCommand, "The name %.80q of a command is used twice, or is no name.", name)
			return
		}
		names[name] = true
	}
}
