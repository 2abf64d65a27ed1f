package connect

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"

	acp1 "github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/draft2/acp"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	thread2 "github.com/acpkit/go-sdk/draft2/thread"
)

type backendV2 struct {
	conn *client2.Conn
	set  *thread2.Set
}

func (b *backendV2) thread(id string) *thread.Thread { return b.set.Thread(acp.SessionID(id)) }

func (b *backendV2) forget(id string) { b.set.Forget(acp.SessionID(id)) }

func (b *backendV2) info() (Info, bool) {
	i := b.conn.PeerInfo()
	if i == nil {
		return Info{}, false
	}
	return Info{i.Name, i.Title, i.Version}, true
}

func (b *backendV2) features() Features {
	caps := b.conn.AgentCapabilities()
	sessions := caps.Has("session")
	return Features{
		Load: sessions, Resume: sessions, List: sessions, Close: sessions, Queue: sessions,
		Fork: caps.Has("session.fork"), Delete: caps.Has("session.delete"),
		Image: caps.Has("session.prompt.image"), Audio: caps.Has("session.prompt.audio"),
		Resource: caps.Has("session.prompt.embeddedContext"),
		Skill:    caps.Has("session.prompt.skill"), SkillInline: caps.Has("session.prompt.skill.inline"),
		Stdio: caps.Has("session.mcp.stdio"), HTTP: caps.Has("session.mcp.http"),
		SessionOptions:        caps.Has("session.options"),
		AdditionalDirectories: caps.Has("session.additionalDirectories"),
	}
}

func (b *backendV2) authMethods() []acp1.AuthMethod {
	var all []acp1.AuthMethod
	for _, m := range b.conn.AuthMethods() {
		switch m := m.(type) {
		case *acp.AuthMethodAgent:
			all = append(all, &acp1.AuthMethodAgent{ID: acp1.AuthMethodID(m.MethodID), Name: m.Name, Description: m.Description})
		case *acp.AuthMethodTerminal:
			env := map[string]string{}
			for _, e := range m.Env {
				env[e.Name] = e.Value
			}
			all = append(all, &acp1.AuthMethodTerminal{
				ID: acp1.AuthMethodID(m.MethodID), Name: m.Name, Description: m.Description, Args: m.Args, Env: env,
			})
		case *acp.UnknownAuthMethod:
			all = append(all, &acp1.UnknownAuthMethod{Type: m.Type, Raw: edited(m.Raw, func(members map[string]json.RawMessage) {
				members["id"] = members["methodId"]
				delete(members, "methodId")
			})})
		}
	}
	return all
}

func (b *backendV2) authenticate(ctx context.Context, req *acp1.AuthenticateRequest) (*acp1.AuthenticateResponse, error) {
	res, err := b.conn.Login(ctx, &acp.LoginAuthRequest{MethodID: acp.AuthMethodID(req.MethodID), Meta: req.Meta})
	if err != nil {
		return nil, err
	}
	return &acp1.AuthenticateResponse{Meta: res.Meta}, nil
}

func (b *backendV2) start(ctx context.Context, p *SessionParams) (session, error) {
	servers, err := serversV2(p.MCPServers)
	if err != nil {
		return nil, err
	}
	s, err := b.conn.StartSession(ctx, &acp.NewSessionRequest{
		Cwd: acp.AbsolutePath(p.Cwd), AdditionalDirectories: paths(p.AdditionalDirectories), MCPServers: servers,
		SystemPrompt: promptV2(p.SystemPrompt), ConfigOptions: initialV2(p.Options),
	})
	return b.opened(s, err)
}

func (b *backendV2) load(ctx context.Context, id string, p *SessionParams) (session, error) {
	return b.reopen(ctx, id, p, &acp.ReplayFromStart{})
}

func (b *backendV2) resume(ctx context.Context, id string, p *SessionParams) (session, error) {
	return b.reopen(ctx, id, p, nil)
}

func (b *backendV2) reopen(ctx context.Context, id string, p *SessionParams, from acp.ReplayFrom) (session, error) {
	servers, err := serversV2(p.MCPServers)
	if err != nil {
		return nil, err
	}
	s, err := b.conn.StartResumedSession(ctx, &acp.ResumeSessionRequest{
		SessionID: acp.SessionID(id), Cwd: acp.AbsolutePath(p.Cwd), AdditionalDirectories: paths(p.AdditionalDirectories),
		MCPServers: servers, ReplayFrom: from, SystemPrompt: promptV2(p.SystemPrompt),
		ConfigOptions: initialV2(p.Options),
	}, &client2.ResumeOptions{OnUpdate: func(context.Context, acp.SessionUpdate) {}, Replayed: p.Replayed})
	return b.opened(s, err)
}

func (b *backendV2) fork(ctx context.Context, id string, p *SessionParams) (session, error) {
	servers, err := serversV2(p.MCPServers)
	if err != nil {
		return nil, err
	}
	s, err := b.conn.StartForkedSession(ctx, &acp.ForkSessionRequest{
		SessionID: acp.SessionID(id), Cwd: acp.AbsolutePath(p.Cwd), AdditionalDirectories: paths(p.AdditionalDirectories),
		MCPServers: servers, SystemPrompt: promptV2(p.SystemPrompt),
		ConfigOptions: initialV2(p.Options), CursorID: acp.CursorID(p.Cursor),
	})
	return b.opened(s, err)
}

func (b *backendV2) options(ctx context.Context, id string, p *SessionParams) (*thread.Snapshot, error) {
	res, err := b.conn.SessionOptions(ctx, &acp.SessionOptionsRequest{
		SessionID: acp.SessionID(id), Cwd: acp.AbsolutePath(p.Cwd), AdditionalDirectories: paths(p.AdditionalDirectories),
	})
	if err != nil {
		return nil, err
	}
	would := thread.New()
	thread2.Opened(would, res.ConfigOptions, res.AvailableCommands)
	return would.Snapshot(), nil
}

func initialV2(list []InitialOption) (all []acp.InitialSessionConfigOption) {
	for _, o := range list {
		var value acp.SessionConfigOptionValue = &acp.SessionConfigValue{Value: acp.SessionConfigValueID(o.Value)}
		if o.On != nil {
			value = &acp.SessionConfigBooleanValue{Value: *o.On}
		}
		all = append(all, acp.InitialSessionConfigOption{ConfigID: acp.SessionConfigID(o.ID), Value: value})
	}
	return all
}

// promptV2 returns the system prompt in the form of version 2. A block that is no text becomes nil, which
// is refused.
func promptV2(p *acp1.SystemPrompt) *acp.SystemPrompt {
	if p == nil {
		return nil
	}
	out := &acp.SystemPrompt{Mode: p.Mode, Meta: acp.Meta(p.Meta)}
	for _, block := range p.Content {
		var b acp.ContentBlock
		if text, ok := block.(*acp1.TextContent); ok && text != nil {
			b = acp.Text(text.Text)
		}
		out.Content = append(out.Content, b)
	}
	return out
}

// opened drops the kept updates, which the thread already has.
func (b *backendV2) opened(s *client2.Session, err error) (session, error) {
	if err != nil {
		return nil, err
	}
	s.OnUpdate(nil)
	return sessionV2{s}, nil
}

func (b *backendV2) list(ctx context.Context, cwd string) iter.Seq2[SessionInfo, error] {
	return func(yield func(SessionInfo, error) bool) {
		for i, err := range b.conn.Sessions(ctx, &acp.ListSessionsRequest{Cwd: acp.AbsolutePath(cwd)}) {
			if err != nil {
				yield(SessionInfo{}, err)
				return
			}
			info := SessionInfo{
				ID: string(i.SessionID), Cwd: string(i.Cwd), Title: i.Title, UpdatedAt: i.UpdatedAt, Meta: thread.Meta(i.Meta),
			}
			for _, d := range i.AdditionalDirectories {
				info.AdditionalDirectories = append(info.AdditionalDirectories, string(d))
			}
			if !yield(info, nil) {
				return
			}
		}
	}
}

func (b *backendV2) delete(ctx context.Context, id string) error {
	return b.conn.Session(acp.SessionID(id)).Delete(ctx)
}

func paths(list []string) []acp.AbsolutePath {
	var all []acp.AbsolutePath
	for _, p := range list {
		all = append(all, acp.AbsolutePath(p))
	}
	return all
}

func serversV2(list []MCPServer) ([]acp.MCPServer, error) {
	var all []acp.MCPServer
	for _, m := range list {
		switch {
		case m.Command != "":
			s := &acp.MCPServerStdio{Name: m.Name, Command: acp.AbsolutePath(m.Command), Args: m.Args}
			for _, name := range slices.Sorted(maps.Keys(m.Env)) {
				s.Env = append(s.Env, acp.EnvVariable{Name: name, Value: m.Env[name]})
			}
			all = append(all, s)
		case m.SSE:
			return nil, errors.New("draft2/connect: the MCP server " + m.Name + " is reached by SSE, which version 2 does not have: see Features.SSE")
		default:
			s := &acp.MCPServerHTTP{Name: m.Name, URL: m.URL}
			for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
				s.Headers = append(s.Headers, acp.HTTPHeader{Name: name, Value: m.Headers[name]})
			}
			all = append(all, s)
		}
	}
	return all, nil
}

type sessionV2 struct{ s *client2.Session }

func (s sessionV2) id() string { return string(s.s.ID()) }

func (s sessionV2) prompt(ctx context.Context, blocks []thread.Block) func() (thread.Turn, error) {
	var prompt []acp.ContentBlock
	for _, b := range blocks {
		prompt = append(prompt, blockV2(b))
	}
	turn := s.s.Prompt(ctx, prompt...)
	return func() (thread.Turn, error) {
		idle, err := turn.Wait()
		if idle == nil {
			return thread.Turn{State: thread.StateIdle}, err
		}
		return thread2.TurnOf(idle), err
	}
}

func (s sessionV2) cancel(ctx context.Context) error { return s.s.Cancel(ctx) }
func (s sessionV2) close(ctx context.Context) error  { return s.s.Close(ctx) }

func (s sessionV2) setOption(ctx context.Context, id, value string) error {
	return s.s.SetConfigOption(ctx, acp.SessionConfigID(id), acp.SessionConfigValueID(value))
}

func (s sessionV2) setBool(ctx context.Context, id string, on bool) error {
	return s.s.SetConfigOptionBool(ctx, acp.SessionConfigID(id), on)
}

func (s sessionV2) setMode(context.Context, string) error {
	return errors.New("draft2/connect: version 2 has no modes: set an option of the category mode")
}

func blockV2(b thread.Block) acp.ContentBlock {
	var hints *acp.Annotations
	if a := b.Annotations; a != nil {
		hints = &acp.Annotations{LastModified: a.LastModified, Priority: a.Priority, Meta: acp.Meta(a.Meta)}
		for _, role := range a.Audience {
			hints.Audience = append(hints.Audience, acp.Role(role))
		}
	}
	kind := acp.MediaType(b.MIMEType)
	switch {
	case b.Raw != nil && b.Type != thread.BlockResource:
		return &acp.UnknownContentBlock{Type: b.Type, Raw: b.Raw}
	case b.Type == thread.BlockSkill:
		return &acp.SkillReference{Name: b.Name, Meta: acp.Meta(b.Meta)}
	case b.Type == thread.BlockImage:
		return &acp.ImageContent{Data: b.Data, MIMEType: kind, URI: b.URI, Annotations: hints, Meta: acp.Meta(b.Meta)}
	case b.Type == thread.BlockAudio:
		return &acp.AudioContent{Data: b.Data, MIMEType: kind, Annotations: hints, Meta: acp.Meta(b.Meta)}
	case b.Type == thread.BlockResourceLink:
		l := &acp.ResourceLink{
			Name: b.Name, URI: b.URI, Title: b.Title, Description: b.Description, MIMEType: kind, Annotations: hints, Meta: acp.Meta(b.Meta),
		}
		if b.Size != nil && *b.Size >= 0 {
			l.Size = new(uint64(*b.Size))
		}
		for _, i := range b.Icons {
			l.Icons = append(l.Icons, acp.Icon{
				Src: i.URI, MIMEType: acp.MediaType(i.MIMEType), Sizes: i.Sizes, Theme: acp.IconTheme(i.Theme), Meta: acp.Meta(i.Meta),
			})
		}
		return l
	case b.Type == thread.BlockResource:
		r := &acp.EmbeddedResource{Annotations: hints, Meta: acp.Meta(b.Meta)}
		switch {
		case b.Raw != nil:
			r.Resource = &acp.UnknownEmbeddedResourceResource{Raw: b.Raw}
		case b.Data != "":
			r.Resource = &acp.BlobResourceContents{Blob: b.Data, URI: b.URI, MIMEType: kind, Meta: acp.Meta(b.ResourceMeta)}
		default:
			r.Resource = &acp.TextResourceContents{Text: b.Text, URI: b.URI, MIMEType: kind, Meta: acp.Meta(b.ResourceMeta)}
		}
		return r
	}
	return &acp.TextContent{Text: b.Text, Annotations: hints, Meta: acp.Meta(b.Meta)}
}
