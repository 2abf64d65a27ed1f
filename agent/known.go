package agent

import (
	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/talk/serving"
)

// These functions say which ids messages have.

// named returns the ids in a request.
func named(params any) serving.Named {
	switch p := params.(type) {
	case *acp.PromptRequest:
		return serving.Named{Session: string(p.SessionID)}
	case *acp.SetSessionModeRequest:
		return serving.Named{Session: string(p.SessionID), Mode: string(p.ModeID)}
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
	}
	switch res := res.(type) {
	case *acp.NewSessionResponse:
		return opened(res.SessionID, res.Modes, res.ConfigOptions)
	case *acp.ForkSessionResponse:
		return opened(res.SessionID, res.Modes, res.ConfigOptions)
	case *acp.LoadSessionResponse:
		return opened(params.(*acp.LoadSessionRequest).SessionID, res.Modes, res.ConfigOptions)
	case *acp.ResumeSessionResponse:
		return opened(params.(*acp.ResumeSessionRequest).SessionID, res.Modes, res.ConfigOptions)
	case *acp.SetSessionConfigOptionResponse:
		return opened(params.(*acp.SetSessionConfigOptionRequest).SessionID, nil, res.ConfigOptions)
	}
	return serving.Told{}
}

func opened(id acp.SessionID, modes *acp.SessionModeState, options []acp.SessionConfigOption) serving.Told {
	t := serving.Told{Session: string(id), Open: true, Options: serving.IDs(options, optionID)}
	if modes != nil {
		t.Modes = serving.IDs(modes.AvailableModes, func(m acp.SessionMode) string { return string(m.ID) })
	}
	return t
}

// listing returns the options that an update lists, or the cursor that it names.
func listing(params any) serving.Told {
	n, _ := params.(*acp.SessionNotification)
	switch u := endpoint.ValueOf(n).Update.(type) {
	case *acp.ConfigOptionUpdate:
		options := append([]acp.SessionConfigOption{}, u.ConfigOptions...) // not nil
		return serving.Told{Session: string(n.SessionID), Options: serving.IDs(options, optionID)}
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
	n, ok := params.(*acp.SessionNotification)
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

func optionID(o acp.SessionConfigOption) string { return string(o.ID) }
