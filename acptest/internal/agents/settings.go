package agents

import (
	"encoding/json"
	"iter"
	"slices"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

var settings = []check.Check{
	{ID: "ACP-MODES-001", Title: "The mode of a session is one of those that are offered.", Tier: check.Must, Fact: "session-modes", In: check.V1, Passive: "mode"},
	{ID: "ACP-MODES-002", Title: "Each mode that is offered can be set.", Tier: check.Should, Fact: "session-modes", In: check.V1,
		Run: check.With(open, func(t *check.T, s *session) {
			_, all := s.modes()
			for _, id := range all {
				s.Start("session/set_mode", s.with("modeId", id)).Result()
			}
		})},
	{ID: "AK-MODES-002", Title: "A mode can be set while a turn runs, be it with an error.", Tier: check.Must, Fact: "session-modes", In: check.V1, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			_, all := s.modes()
			s.Call("session/set_mode", s.with("modeId", all[len(all)-1]))
			s.cancel()
			t.Works(func() { s.stopReason(s.call) })
		})},
	{ID: "AK-MODES-004", Title: "A change of the mode while a turn runs succeeds.", Tier: check.Should, Fact: "session-modes", In: check.V1, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			_, all := s.modes()
			c := s.Start("session/set_mode", s.with("modeId", all[len(all)-1]))
			s.Quiet(s.Mark())
			s.cancel()
			t.Works(func() { s.stopReason(s.call) })
			var m, idle check.Message
			t.Works(func() { m, idle = c.Response(), s.Call("session/set_mode", s.with("modeId", all[len(all)-1])) })
			t.Requires(idle.Error == nil, "The mode cannot be set at all, which is the subject of another check.")
			t.FailAtIf(m.Error != nil, m, "The mode cannot be set while a turn runs.")
		})},
	{ID: "AK-MODES-001", Title: "A mode that is not offered cannot be set.", Tier: check.Must, Fact: "session-modes", In: check.V1, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			s.modes()
			fails(t, s.Call("session/set_mode", s.with("modeId", "acptest-no-such-mode")))
		})},
	{ID: "AK-MODES-003", Title: "The mode, and the option of the category mode that has the modes as values, are one.", Tier: check.Should, Fact: "session-config-options", In: check.V1,
		Run: check.With(open, func(t *check.T, s *session) {
			old, all := s.modes()
			t.Requires(slices.Contains(all, old), "The mode is not offered, which is the subject of another check.")
			before := s.options(s.new)
			i := slices.IndexFunc(before, func(o option) bool { return o.Category == "mode" && o.offers(all) })
			t.SkipIf(i < 0 || len(all) < 2, "No option of the category mode has the modes as values.")
			id := before[i].id()
			t.FailAtIf(before[i].value() != old, s.new, "The mode is %q, and the option %q has the value %q.", old, id, before[i].value())

			from, mode := s.Mark(), ""
			for _, one := range all {
				if one != old && s.Call("session/set_mode", s.with("modeId", one)).Error == nil {
					mode = one
					break
				}
			}
			t.Requires(mode != "", "No other mode can be set, which is the subject of another check.")
			value, m, told := s.toldValue(from, before, id)
			t.FailAtIf(told && value != mode, m, "The mode was set to %q, and the option %q has the value %q.", mode, id, value)

			from = s.Mark()
			m = s.Call("session/set_config_option", s.with("configId", id, "type", "id", "value", old))
			t.Requires(m.Error == nil, "The option %q cannot be set, which is the subject of another check.", id)
			if updates := s.updates(from, "current_mode_update"); len(updates) > 0 {
				m = updates[len(updates)-1]
				mode = m.Text("update", "currentModeId")
				t.FailAtIf(mode != old, m, "The option %q was set to %q, and the mode is %q.", id, old, mode)
			}
		})},
	{ID: "ACP-CONFIG-001", Title: "The value of each option is one of those that are offered.", Tier: check.Must, Fact: "session-config-options", In: check.Both, Passive: "option-value"},
	{ID: "ACP-CONFIG-002", Title: "The response to session/set_config_option has all options, with the value that was set.", Tier: check.Must, Fact: "session-config-options", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			before := s.options(s.new)
			id, value := choice(t, before)
			var m check.Message
			for id, value = range choices(before) { // a value may stand for another one, or need what is not there
				m = s.Call("session/set_config_option", s.with("configId", id, "type", "id", "value", value))
				after := s.options(m)
				lost := missing(before, after)
				if lost != "" && lost != id { // a choice may remove others: with the old value they are back
					old := before[slices.IndexFunc(before, func(o option) bool { return o.id() == id })].value()
					m = s.Call("session/set_config_option", s.with("configId", id, "type", "id", "value", old))
					lost = missing(before, s.options(m))
					t.FailAtIf(lost != "", m, "The response does not have all options: %q is missing.", lost)
					return
				}
				i := slices.IndexFunc(after, func(o option) bool { return o.id() == id })
				if i < 0 || after[i].value() != value {
					continue
				}
				return
			}
			t.FailAt(m, "No option has the value that was set; %q does not have %q.", id, value)
		})},
	{ID: "AK-CONFIG-004", Title: "A value that is set in one session does not change another one.", Tier: check.Should, Fact: "session-config-options", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			id, value := choice(t, s.options(s.new))
			other := start(t, s.Peer)
			t.Requires(other.id != s.id, "Both sessions have the id %s, which is the subject of another check.", s.id)
			old := valueOf(s.options(other.new), id)
			t.SkipIf(old == value, "A new session has the value already.")
			from := s.Mark()
			s.Call("session/set_config_option", s.with("configId", id, "type", "id", "value", value))
			now, m, told := other.toldValue(from, s.options(other.new), id)
			t.FailAtIf(told && now == value, m, "The option %q was changed in another session, too.", id)
		})},
	{ID: "AK-CONFIG-002", Title: "An option and a value that are not offered cannot be set.", Tier: check.Must, Fact: "session-config-options", In: check.Both, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			id, _ := choice(t, s.options(s.new))
			fails(t, s.Call("session/set_config_option", s.with("configId", "acptest-no-such-option", "type", "id", "value", "x")))
			fails(t, s.Call("session/set_config_option", s.with("configId", id, "type", "id", "value", "acptest-no-such-value")))
		})},
	{ID: "AK-CONFIG-003", Title: "An option can be set while a turn runs, be it with an error.", Tier: check.Should, Fact: "session-config-options", In: check.Both, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			id, value := choice(t, s.options(s.new))
			t.Expect("a response while the turn runs")
			s.Call("session/set_config_option", s.with("configId", id, "type", "id", "value", value))
			s.cancel()
			t.Works(func() { s.stopReason(s.call) })
		})},
	{ID: "AK-CONFIG-005", Title: "A change of an option while a turn runs succeeds.", Tier: check.Should, Fact: "session-config-options", In: check.Both, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			id, value := choice(t, s.options(s.new))
			c := s.Start("session/set_config_option", s.with("configId", id, "type", "id", "value", value))
			s.Quiet(s.Mark())
			s.cancel()
			t.Works(func() { s.stopReason(s.call) })
			var m, idle check.Message
			t.Works(func() {
				m, idle = c.Response(), s.Call("session/set_config_option", s.with("configId", id, "type", "id", "value", value))
			})
			t.Requires(idle.Error == nil, "The option cannot be set at all, which is the subject of another check.")
			t.FailAtIf(m.Error != nil, m, "The option %q cannot be set while a turn runs.", id)
		})},
	{ID: "AK-CONFIG-006", Title: "An update of the options has all of them.", Tier: check.Must, Fact: "session-config-options", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			all := s.options(s.new)
			from := s.Mark()
			if modes := check.Get[[]struct{ ID string }](&s.new, "modes", "availableModes"); len(modes) > 0 {
				s.Call("session/set_mode", s.with("modeId", modes[len(modes)-1].ID))
				s.complete(from, all)
			}
			for id, value := range choices(all) {
				from = s.Mark()
				s.Call("session/set_config_option", s.with("configId", id, "type", "id", "value", value))
				s.complete(from, all)
				break
			}
		})},
	{ID: "AK-CONFIG-007", Title: "The mode and the options of a session that does not exist cannot be set.", Tier: check.Must, Fact: "session-config-options", In: check.Both, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			all := check.Get[[]option](&s.new, "configOptions")
			modes := check.Get[[]struct{ ID string }](&s.new, "modes", "availableModes")
			t.SkipIf(len(all) == 0 && len(modes) == 0, "The agent has no modes and no config options.")
			s.id = noSession
			for id, value := range choices(all) {
				fails(t, s.Call("session/set_config_option", s.with("configId", id, "type", "id", "value", value)))
			}
			if t.Version == 1 && len(modes) > 0 {
				fails(t, s.Call("session/set_mode", s.with("modeId", modes[0].ID)))
			}
		})},
	{ID: "AK-CONFIG-001", Title: "The ids of the options of a session differ.", Tier: check.Must, Fact: "session-config-options", In: check.Both, Passive: "option-id"},
	{ID: "AK-COMMAND-001", Title: "The slash commands of a session have names of their own that do not begin with a slash, and have no space in version 2.", Tier: check.Should, Fact: "slash-commands", In: check.Both, Passive: "command"},
}

// complete fails the check if an update from a place of the log on lacks an option. A choice may remove options:
// the list as it is comes when a value is set that an option has already.
func (s *session) complete(from int, all []option) {
	for _, told := range s.updates(from, "config_option_update") {
		has := check.Get[[]option](&told, "update", "configOptions")
		i := slices.IndexFunc(has, func(o option) bool { return o.Type == "select" })
		if i < 0 || missing(all, has) == "" {
			continue
		}
		m := s.Call("session/set_config_option", s.with("configId", has[i].id(), "type", "id", "value", has[i].value()))
		lost := missing(check.Get[[]option](&m, "configOptions"), has)
		s.t.FailAtIf(lost != "", told, "The update does not have the option %q.", lost)
	}
}

// missing returns the id of an option that is not in a list any more, or "".
func missing(before, after []option) string {
	for _, o := range before {
		if !slices.ContainsFunc(after, func(other option) bool { return other.id() == o.id() }) {
			return o.id()
		}
	}
	return ""
}

// modes returns the mode of a session and those that are offered, or ends the check.
func (s *session) modes() (current string, all []string) {
	for _, m := range check.Get[[]struct{ ID string }](&s.new, "modes", "availableModes") {
		all = append(all, m.ID)
	}
	current = s.new.Text("modes", "currentModeId")
	s.t.SkipIf(current == "" && len(all) == 0, "The agent has no modes.")
	return current, all
}

// toldValue returns the value of an option by the message that tells the options of the session last, from a
// place of the log on. If none came by itself, another option is set to the value that it has.
func (s *session) toldValue(from int, all []option, id string) (value string, by check.Message, told bool) {
	if updates := s.updates(from, "config_option_update"); len(updates) > 0 {
		by = updates[len(updates)-1]
		return valueOf(check.Get[[]option](&by, "update", "configOptions"), id), by, true
	}
	i := slices.IndexFunc(all, func(o option) bool { return o.id() != id && o.Type == "select" })
	if i < 0 {
		return "", by, false
	}
	by = s.Call("session/set_config_option", s.with("configId", all[i].id(), "type", "id", "value", all[i].value()))
	return valueOf(check.Get[[]option](&by, "configOptions"), id), by, by.Error == nil
}

// updates returns the updates of the session of a kind from a place of the log on.
func (s *session) updates(from int, kind string) []check.Message {
	return kinds(s.Quiet(from), kind)
}

// option is a config option of one of the versions.
type option struct {
	ID, ConfigID, Type, Category string
	CurrentValue                 json.RawMessage
	Options                      json.RawMessage
}

// valueOf returns the value of the option with an id, or "".
func valueOf(all []option, id string) string {
	for _, o := range all {
		if o.id() == id {
			return o.value()
		}
	}
	return ""
}

func (o *option) id() string { return o.ID + o.ConfigID }

func (o *option) value() (value string) {
	_ = json.Unmarshal(o.CurrentValue, &value) // that of a switch is none
	return value
}

func (o *option) values() (all []string) {
	type item struct {
		Value   string
		Options []item
	}
	var items []item
	_ = json.Unmarshal(o.Options, &items) // the schema is checked elsewhere
	for i := 0; i < len(items); i++ {
		if items = append(items, items[i].Options...); items[i].Options == nil {
			all = append(all, items[i].Value)
		}
	}
	return all
}

// offers reports whether all of the values can be chosen.
func (o *option) offers(values []string) bool {
	offered := o.values()
	return !slices.ContainsFunc(values, func(value string) bool { return !slices.Contains(offered, value) })
}

// options returns the options in a result, or ends the check.
func (s *session) options(m check.Message) []option {
	all := check.Get[[]option](&m, "configOptions")
	s.t.SkipIf(len(all) == 0 && m.Seq == s.new.Seq, "The agent has no config options.")
	return all
}

// choices yields each option that offers another value, with the first one.
func choices(all []option) iter.Seq2[string, string] {
	return func(yield func(id, value string) bool) {
		for _, o := range all {
			values := o.values()
			i := slices.IndexFunc(values, func(value string) bool { return o.Type == "select" && value != o.value() })
			if i >= 0 && !yield(o.id(), values[i]) {
				return
			}
		}
	}
}

// choice returns the first of choices, or ends the check.
func choice(t *check.T, all []option) (id, value string) {
	for id, value = range choices(all) {
		return id, value
	}
	t.Skip("The agent has no option with another value.")
	return "", ""
}
