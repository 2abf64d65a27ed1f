package agent_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// smallKit is a small agent kit that uses public packages only. It shows that nothing which agent/kit needs is
// internal: it stores its sessions and what the person sees, makes one turn of a session at a time in the
// order of the prompts, joins the deltas of a model, and runs tools with permission.
type smallKit struct {
	conn  *agent.Conn
	store journal.Store
	tools *tools.Registry
	queue int
	turn  func(ctx context.Context, s *smallSession, prompt []acp.ContentBlock) error

	mu       sync.Mutex
	sessions map[acp.SessionID]*smallSession
}

type smallSession struct {
	*agent.Session
	log journal.Log
	kit *smallKit

	mu   sync.Mutex
	ctx  context.Context // of the turn
	text *agent.Joiner
}

func (k *smallKit) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{AgentCapabilities: agent.Capabilities(k)}, nil
}

func (k *smallKit) NewSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	id := acp.SessionID(fmt.Sprint("s", len(k.sessions)))
	log, err := k.store.Create(ctx, string(id), journal.Meta{Cwd: req.Cwd})
	if err != nil {
		return nil, err
	}
	s := &smallSession{Session: k.conn.Session(id), log: log, kit: k}
	s.text = agent.NewJoiner(&s.mu, s.say)
	k.sessions[id] = s
	return &acp.NewSessionResponse{SessionID: id}, nil
}

func (k *smallKit) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	if agent.Ahead(ctx) > k.queue {
		return nil, rpcerr.InvalidRequest(nil).WithDetail("too many prompts wait")
	}
	if err := agent.AwaitEarlier(ctx); err != nil {
		return nil, err
	}
	k.mu.Lock()
	s := k.sessions[req.SessionID]
	k.mu.Unlock()
	if s == nil {
		return nil, rpcerr.SessionNotFound(string(req.SessionID))
	}
	for _, b := range req.Prompt {
		if err := s.keep(&acp.UserMessageChunk{Content: b}); err != nil {
			return nil, err
		}
	}
	res := &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}
	if ctx.Err() != nil { // cancelled while it waited: the prompt is kept
		res.StopReason = acp.StopReasonCancelled
		return res, nil
	}
	if err := k.turn(ctx, s, req.Prompt); err != nil {
		return nil, err
	}
	return res, s.log.Sync(ctx)
}

func (k *smallKit) Cancel(context.Context, *acp.CancelNotification) error { return nil }

func (s *smallSession) keep(u acp.SessionUpdate) error {
	if err := s.Check(u); err != nil { // what cannot be sent is not stored
		return err
	}
	data, err := json.Marshal(u)
	if err == nil {
		_, err = s.log.Append(journal.Record{Kind: journal.KindEvent, Data: data})
	}
	return err
}

func (s *smallSession) say(text string) error {
	u := acp.AgentText(text)
	if err := s.keep(u); err != nil {
		return err
	}
	return s.Update(s.ctx, u)
}

// answer stores and sends the deltas of a model.
func (s *smallSession) answer(ctx context.Context, deltas ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx = ctx
	for _, d := range deltas {
		if err := s.text.Add(d); err != nil {
			return err
		}
	}
	return s.text.Flush()
}

// A second kit, written against the public packages alone, keeps the order of prompts that a client sends
// without waiting for their responses.
func TestSmallKit(t *testing.T) {
	const prompts = 3000
	ran := 0
	count := tools.Tool{Name: "count", Effect: tools.Reads, Schema: []byte(`{"type":"object"}`), Run: func(context.Context, *tools.Call) (tools.Result, error) {
		ran++
		return tools.Text(fmt.Sprint(ran)), nil
	}}
	registry := tools.NewRegistry(count)
	var order []string
	store := new(journal.Memory)
	newAgent := func(c *agent.Conn) acp.Agent {
		return &smallKit{conn: c, store: store, tools: registry, queue: prompts, sessions: map[acp.SessionID]*smallSession{},
			turn: func(ctx context.Context, s *smallSession, prompt []acp.ContentBlock) error {
				text := acp.PlainText(prompt...)
				order = append(order, text) // one turn at a time
				if _, err := s.kit.tools.Run(ctx, tools.Env{Session: s.Session}, []tools.Request{{Name: "count"}}); err != nil {
					return err
				}
				return s.answer(ctx, "€"[:1], "€"[1:]+text)
			}}
	}
	agentIn, clientOut := io.Pipe()
	clientIn, agentOut := io.Pipe()
	served := make(chan error, 1)
	go func() { // ends with clientOut
		served <- agent.Serve(context.Background(), stream.Lines(agentIn, agentOut, nil), newAgent, &agent.Options{})
		agentOut.Close()
	}()
	lines := bufio.NewScanner(clientIn)
	send := func(format string, args ...any) {
		_, err := fmt.Fprintf(clientOut, format+"\n", args...)
		assert.NoError(t, err)
	}
	said := 0
	await := func(id int) {
		for lines.Scan() && !strings.HasPrefix(lines.Text(), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,`, id)) {
			if strings.Contains(lines.Text(), fmt.Sprintf(`"text":"€%d"`, id-10)) {
				said++
			}
		}
		require.Contains(t, lines.Text(), `"result"`)
	}
	go send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`) // ends when it is read
	await(1)
	go send(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
	await(2)
	go func() { // ends with the last prompt
		for i := range prompts {
			send(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s0","prompt":[{"type":"text","text":"%d"}]}}`, i+10, i)
		}
	}()
	for i := range prompts {
		await(i + 10)
	}
	clientOut.Close()
	require.NoError(t, <-served)
	require.Len(t, order, prompts)
	for i, text := range order {
		require.Equal(t, fmt.Sprint(i), text)
	}
	assert.Equal(t, prompts, ran)
	assert.Equal(t, prompts, said, "a rune that was cut is sent whole")
}
