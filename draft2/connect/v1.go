package connect

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/thread"
)

type backendV1 struct {
	conn *client.Conn
	set  *thread.Set
}

func (b *backendV1) thread(id string) *thread.Thread { return b.set.Thread(acp.SessionID(id)) }

func (b *backendV1) forget(id string) { b.set.Forget(acp.SessionID(id)) }

func (b *backendV1) info() (Info, bool) {
	i := b.conn.PeerInfo()
	if i == nil {
		return Info{}, false
	}
	return Info{i.Name, i.Title, i.Version}, true
}

func (b *backendV1) features() Features {
	caps := b.conn.AgentCapabilities()
	return Features{
		Load: caps.Has("loadSession"), Resume: caps.Has("sessionCapabilities.resume"), Fork: caps.Has("sessionCapabilities.fork"), List: caps.Has("sessionCapabilities.list"),
		Close: caps.Has("sessionCapabilities.close"), Delete: caps.Has("sessionCapabilities.delete"),
		Image: caps.Has("promptCapabilities.image"), Audio: caps.Has("promptCapabilities.audio"),
		Resource: caps.Has("promptCapabilities.embeddedContext"),
		Stdio:    true, // every agent of version 1 supports it
		HTTP:     caps.Has("mcpCapabilities.http"), SSE: caps.Has("mcpCapabilities.sse"),
		SessionOptions:        caps.Has("sessionCapabilities.options"),
		AdditionalDirectories: caps.Has("sessionCapabilities.additionalDirectories"),
	}
}

func (b *backendV1) authMethods() []acp.AuthMethod { return b.conn.AuthMethods() }

func (b *backendV1) authenticate(ctx context.Context, req *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	return b.conn.Authenticate(ctx, req)
}

func (b *backendV1) start(ctx context.Context, p *SessionParams) (session, error) {
	s, err := b.conn.StartSession(ctx, &acp.NewSessionRequest{
		Cwd: p.Cwd, AdditionalDirectories: p.AdditionalDirectories, MCPServers: serversV1(p.MCPServers), SystemPrompt: p.SystemPrompt,
		ConfigOptions: initialV1(p.Options),
	})
	return b.opened(s, err)
}

func (b *backendV1) load(ctx context.Context, id string, p *SessionParams) (session, error) {
	s, err := b.conn.StartLoadedSession(ctx, &acp.LoadSessionRequest{
		SessionID: acp.SessionID(id), Cwd: p.Cwd, AdditionalDirectories: p.AdditionalDirectories, MCPServers: serversV1(p.MCPServers), SystemPrompt: p.SystemPrompt,
		ConfigOptions: initialV1(p.Options),
	}, func(context.Context, acp.SessionUpdate) {})
	return b.opened(s, err)
}

func (b *backendV1) resume(ctx context.Context, id string, p *SessionParams) (session, error) {
	s, err := b.conn.StartResumedSession(ctx, &acp.ResumeSessionRequest{
		SessionID: acp.SessionID(id), Cwd: p.Cwd, AdditionalDirectories: p.AdditionalDirectories, MCPServers: serversV1(p.MCPServers), SystemPrompt: p.SystemPrompt,
		ConfigOptions: initialV1(p.Options),
	})
	return b.opened(s, err)
}

func (b *backendV1) fork(ctx context.Context, id string, p *SessionParams) (session, error) {
	s, err := b.conn.StartForkedSession(ctx, &acp.ForkSessionRequest{
		SessionID: acp.SessionID(id), Cwd: p.Cwd, AdditionalDirectories: p.AdditionalDirectories, MCPServers: serversV1(p.MCPServers), SystemPrompt: p.SystemPrompt,
		ConfigOptions: initialV1(p.Options), CursorID: acp.CursorID(p.Cursor),
	})
	return b.opened(s, err)
}

func (b *backendV1) options(ctx context.Context, id string, p *SessionParams) (*thread.Snapshot, error) {
	res, err := b.conn.SessionOptions(ctx, &acp.SessionOptionsRequest{
		SessionID: acp.SessionID(id), Cwd: p.Cwd, AdditionalDirectories: p.AdditionalDirectories,
	})
	if err != nil {
		return nil, err
	}
	would := thread.New()
	would.Opened(res.Modes, res.ConfigOptions)
	return would.Snapshot(), nil
}

func initialV1(list []InitialOption) (all []acp.InitialSessionConfigOption) {
	for _, o := range list {
		var value acp.SessionConfigOptionValue = &acp.SessionConfigValue{Value: acp.SessionConfigValueID(o.Value)}
		if o.On != nil {
			value = &acp.SessionConfigBooleanValue{Value: *o.On}
		}
		all = append(all, acp.InitialSessionConfigOption{ConfigID: acp.SessionConfigID(o.ID), Value: value})
	}
	return all
}

// opened drops the kept updates, which the thread already has.
func (b *backendV1) opened(s *client.Session, err error) (session, error) {
	if err != nil {
		return nil, err
	}
	s.OnUpdate(nil)
	return sessionV1{s}, nil
}

func (b *backendV1) list(ctx context.Context, cwd string) iter.Seq2[SessionInfo, error] {
	return func(yield func(SessionInfo, error) bool) {
		for i, err := range b.conn.Sessions(ctx, &acp.ListSessionsRequest{Cwd: cwd}) {
			if err != nil {
				yield(SessionInfo{}, err)
				return
			}
			info := SessionInfo{
				ID: string(i.SessionID), Cwd: i.Cwd, Title: i.Title, UpdatedAt: i.UpdatedAt,
				AdditionalDirectories: i.AdditionalDirectories, Meta: thread.Meta(i.Meta),
			}
			if !yield(info, nil) {
				return
			}
		}
	}
}

func (b *backendV1) delete(ctx context.Context, id string) error {
	return b.conn.Session(acp.SessionID(id)).Delete(ctx)
}

func serversV1(list []MCPServer) []acp.MCPServer {
	all := []acp.MCPServer{}
	for _, m := range list {
		var headers []acp.HTTPHeader
		for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
			headers = append(headers, acp.HTTPHeader{Name: name, Value: m.Headers[name]})
		}
		switch {
		case m.Command != "":
			s := &acp.MCPServerStdio{Name: m.Name, Command: m.Command, Args: m.Args}
			for _, name := range slices.Sorted(maps.Keys(m.Env)) {
				s.Env = append(s.Env, acp.EnvVariable{Name: name, Value: m.Env[name]})
			}
			all = append(all, s)
		case m.SSE:
			all = append(all, &acp.MCPServerSSE{Name: m.Name, URL: m.URL, Headers: headers})
		default:
			all = append(all, &acp.MCPServerHTTP{Name: m.Name, URL: m.URL, Headers: headers})
		}
	}
	return all
}

type sessionV1 struct{ s *client.Session }

func (s sessionV1) id() string { return string(s.s.ID()) }

func (s sessionV1) prompt(ctx context.Context, blocks []thread.Block) func() (thread.Turn, error) {
	var prompt []acp.ContentBlock
	for _, b := range blocks {
		if b.Type == thread.BlockSkill {
			return func() (thread.Turn, error) { return thread.Turn{State: thread.StateIdle}, errNoSkills }
		}
		prompt = append(prompt, blockV1(b))
	}
	turn := s.s.Prompt(ctx, prompt...)
	return func() (thread.Turn, error) {
		res, err := turn.Wait()
		return thread.TurnOf(res), err
	}
}

var errNoSkills = errors.New("draft2/connect: the prompt calls a skill, which version 1 does not have: see Features.Skill")

func (s sessionV1) cancel(ctx context.Context) error { return s.s.Cancel(ctx) }

func (s sessionV1) close(ctx context.Context) error {
	cancelled := s.s.Cancel(ctx) // an agent that cannot close sessions would continue its turn
	err := s.s.Close(ctx)
	if _, ok := errors.AsType[*acp.CapabilityError](err); ok {
		return cancelled
	}
	return err
}

func (s sessionV1) setOption(ctx context.Context, id, value string) error {
	return s.s.SetConfigOption(ctx, acp.SessionConfigID(id), acp.SessionConfigValueID(value))
}

func (s sessionV1) setBool(ctx context.Context, id string, on bool) error {
	return s.s.SetConfigOptionBool(ctx, acp.SessionConfigID(id), on)
}

func (s sessionV1) setMode(ctx context.Context, id string) error {
	return s.s.SetMode(ctx, acp.SessionModeID(id))
}

func blockV1(b thread.Block) acp.ContentBlock {
	var hints *acp.Annotations
	if a := b.Annotations; a != nil {
		hints = &acp.Annotations{LastModified: a.LastModified, Priority: a.Priority, Meta: acp.Meta(a.Meta)}
		for _, role := range a.Audience {
			hints.Audience = append(hints.Audience, acp.Role(role))
		}
	}
	switch {
	case b.Raw != nil && b.Type != thread.BlockResource:
		return &acp.UnknownContentBlock{Type: b.Type, Raw: b.Raw}
	case b.Type == thread.BlockImage:
		return &acp.ImageContent{Data: b.Data, MIMEType: b.MIMEType, URI: b.URI, Annotations: hints, Meta: acp.Meta(b.Meta)}
	case b.Type == thread.BlockAudio:
		return &acp.AudioContent{Data: b.Data, MIMEType: b.MIMEType, Annotations: hints, Meta: acp.Meta(b.Meta)}
	case b.Type == thread.BlockResourceLink:
		return &acp.ResourceLink{
			Name: b.Name, URI: b.URI, Title: b.Title, Description: b.Description, MIMEType: b.MIMEType, Size: b.Size,
			Annotations: hints, Meta: acp.Meta(b.Meta),
		}
	case b.Type == thread.BlockResource:
		r := &acp.EmbeddedResource{Annotations: hints, Meta: acp.Meta(b.Meta)}
		switch {
		case b.Raw != nil:
			r.Resource = &acp.UnknownEmbeddedResourceResource{Raw: b.Raw}
		case b.Data != "":
			r.Resource = &acp.BlobResourceContents{Blob: b.Data, URI: b.URI, MIMEType: b.MIMEType, Meta: acp.Meta(b.ResourceMeta)}
		default:
			r.Resource = &acp.TextResourceContents{Text: b.Text, URI: b.URI, MIMEType: b.MIMEType, Meta: acp.Meta(b.ResourceMeta)}
		}
		return r
	}
	return &acp.TextContent{Text: b.Text, Annotations: hints, Meta: acp.Meta(b.Meta)}
}
