package agent

import (
	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/talk/serving"
)

// These functions say which ids messages have, for Options.CheckIDs.

// named returns the session that must be open for a request, and the mode or option in its params.
func named(params any) (id, mode, option string) {
	switch p := params.(type) {
	case *acp.PromptRequest:
		return string(p.SessionID), "", ""
	case *acp.SetSessionModeRequest:
		return string(p.SessionID), string(p.ModeID), ""
	case *acp.SetSessionConfigOptionRequest:
		return string(p.SessionID), "", string(p.ConfigID)
	}
	return "", "", ""
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

// listing returns the options that an update lists.
func listing(params any) serving.Told {
	if n, ok := params.(*acp.SessionNotification); ok {
		if u, ok := n.Update.(*acp.ConfigOptionUpdate); ok {
			options := append([]acp.SessionConfigOption{}, u.ConfigOptions...) // not nil
			return serving.Told{Session: string(n.SessionID), Options: serving.IDs(options, optionID)}
		}
	}
	return serving.Told{}
}

func optionID(o acp.SessionConfigOption) string { return string(o.ID) }
