package agent

import (
	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/talk/serving"
)

// These functions say which ids messages have. Skills are checked without Options.CheckIDs, too: the list
// that the client has is the one that this Conn has sent.

// named returns the ids in a request. Version 2 has no modes.
func named(params any) serving.Named {
	switch p := params.(type) {
	case *acp.PromptRequest:
		n := serving.Named{Session: string(p.SessionID), Prompted: string(p.SessionID)}
		for _, block := range p.Prompt {
			if skill, ok := block.(*acp.SkillReference); ok {
				n.Skills = append(n.Skills, skill.Name)
			}
		}
		return n
	case *acp.SetSessionConfigOptionRequest:
		return serving.Named{Session: string(p.SessionID), Option: string(p.ConfigID)}
	case *acp.ForkSessionRequest:
		return serving.Named{Forked: string(p.SessionID), Cursor: string(p.CursorID)}
	}
	return serving.Named{}
}

// told returns what a response says about a session.
func told(params, res any) serving.Told {
	switch p := params.(type) {
	case *acp.CloseSessionRequest:
		return serving.Told{Session: string(p.SessionID), Closed: true}
	case *acp.DeleteSessionRequest:
		return serving.Told{Session: string(p.SessionID), Closed: true}
	case *acp.ResumeSessionRequest:
		r, _ := res.(*acp.ResumeSessionResponse)
		return opened(p.SessionID, endpoint.ValueOf(r).ConfigOptions, endpoint.ValueOf(r).AvailableCommands)
	case *acp.SetSessionConfigOptionRequest:
		r, _ := res.(*acp.SetSessionConfigOptionResponse)
		return opened(p.SessionID, endpoint.ValueOf(r).ConfigOptions, nil)
	}
	switch r := res.(type) {
	case *acp.NewSessionResponse:
		res := endpoint.ValueOf(r)
		return opened(res.SessionID, res.ConfigOptions, res.AvailableCommands)
	case *acp.ForkSessionResponse:
		res := endpoint.ValueOf(r)
		return opened(res.SessionID, res.ConfigOptions, res.AvailableCommands)
	}
	return serving.Told{}
}

func opened(id acp.SessionID, options []acp.SessionConfigOption, commands []acp.AvailableCommand) serving.Told {
	return serving.Told{Session: string(id), Open: true, Options: serving.IDs(options, optionID), Skills: skills(commands)}
}

// listing returns what an update lists, or the cursor that it names.
func listing(params any) serving.Told {
	n, _ := params.(*acp.UpdateSessionNotification)
	switch u := endpoint.ValueOf(n).Update.(type) {
	case *acp.ConfigOptionUpdate:
		options := append([]acp.SessionConfigOption{}, u.ConfigOptions...) // not nil
		return serving.Told{Session: string(n.SessionID), Options: serving.IDs(options, optionID)}
	case *acp.AvailableCommandsUpdate:
		return serving.Told{Session: string(n.SessionID), Skills: skills(append([]acp.AvailableCommand{}, u.AvailableCommands...))}
	case *acp.CursorUpdate:
		told := serving.Told{Session: string(n.SessionID), Cursor: string(u.CursorID)}
		if !u.Capabilities.IsZero() {
			can, _ := u.Capabilities.Get()
			told.Fork = new(can.Fork != nil)
		}
		return told
	}
	return serving.Told{}
}

// checkUpdate returns an error for an update of a session that neither end has named. Without
// Options.CheckIDs it is only logged: methods that are not of the protocol may open sessions, too.
func (c *Conn) checkUpdate(params any) error {
	n, ok := params.(*acp.UpdateSessionNotification)
	if !ok || n == nil {
		return nil
	}
	subagent := ""
	if u, ok := n.Update.(*acp.SubagentUpdate); ok {
		subagent = string(u.SessionID)
	}
	err := c.known.CheckUpdate(string(n.SessionID), subagent)
	if err != nil && !c.opts.CheckIDs {
		c.log.Warn("acp: sent an update that the client may drop", "error", err)
		return nil
	}
	return err
}

func optionID(o acp.SessionConfigOption) string { return string(o.ConfigID) }

// skills returns the names of the skills in a list of commands, or nil if the list is nil.
func skills(list []acp.AvailableCommand) []string {
	if list == nil {
		return nil
	}
	names := []string{}
	for _, command := range list {
		if s, ok := command.(*acp.Skill); ok {
			names = append(names, s.Name)
		}
	}
	return names
}
