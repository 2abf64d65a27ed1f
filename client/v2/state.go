package client

import (
	"slices"

	"github.com/acpkit/go-sdk/acp/v2"
)

// State returns the state of the session that the agent reported last: running, requires
// action, or idle. It is idle before the first report. The result is shared and must not be
// modified.
func (s *Session) State() acp.StateUpdate {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settings.state == nil {
		return &acp.IdleStateUpdate{}
	}
	return s.settings.state
}

// Commands returns the slash commands of the session, as the agent last reported them.
func (s *Session) Commands() []acp.AvailableCommand {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.settings.commands)
}

// versionedSettings are the settings that only this version has.
type versionedSettings struct {
	state      acp.StateUpdate // nil until it is reported
	commands   []acp.AvailableCommand
	commandsAt int
}

// trackVersioned stores the state or the commands that an update reports.
func (t *settings) trackVersioned(u acp.SessionUpdate) {
	switch u := u.(type) {
	case *acp.SessionStateUpdate:
		t.state = u.StateUpdate
	case *acp.AvailableCommandsUpdate:
		t.setCommands(t.next(), u.AvailableCommands)
	}
}

func (t *settings) setCommands(at int, commands []acp.AvailableCommand) {
	if at > t.commandsAt {
		t.commands, t.commandsAt = commands, at
	}
}

// reopened stores the settings from the response of a resume.
func (a *settingResponse) reopened(options []acp.SessionConfigOption, commands []acp.AvailableCommand) {
	a.tell(func(t *settings, at int) {
		if options != nil {
			t.setOptions(at, options)
		}
		if commands != nil {
			t.setCommands(at, commands)
		}
	})
}
