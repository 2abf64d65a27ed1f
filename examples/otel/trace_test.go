package acpotel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	acpotel "github.com/acpkit/go-sdk/examples/otel"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// reader is an agent that reads a file in its turn.
type reader struct{ conn *agent.Conn }

func (reader) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return nil, nil
}

func (reader) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s1"}, nil
}

func (r reader) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	s := r.conn.Session(req.SessionID)
	if err := s.Message(ctx, "reading"); err != nil {
		return nil, err
	}
	if _, err := s.ReadFile(ctx, "/"+acp.PlainText(req.Prompt...)); err != nil {
		return nil, err
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

func (reader) Cancel(context.Context, *acp.CancelNotification) error { return nil }

// files is a client with one file.
type files struct{}

func (files) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }

func (files) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.Cancelled(), nil
}

func (files) ReadTextFile(_ context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	if req.Path != "/there" {
		return nil, rpcerr.ResourceNotFound(req.Path)
	}
	return &acp.ReadTextFileResponse{Content: "confidential"}, nil
}

// ends are an agent and a client that are connected; both are traced.
type ends struct {
	client *client.Conn
	spans  *tracetest.InMemoryExporter
	tracer trace.Tracer
}

func connect(t *testing.T) *ends {
	t.Helper()
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	tracer := acpotel.New(&acpotel.Options{TracerProvider: provider})
	receiving, sending := []acp.Middleware{tracer.Receiving}, []acp.Middleware{tracer.Sending}
	near, far := stream.Pipe()
	a := agent.New(near, func(c *agent.Conn) acp.Agent { return reader{c} }, &agent.Options{Receiving: receiving, Sending: sending})
	require.NoError(t, a.Start(context.Background()))
	c, err := client.Connect(context.Background(), far, func(*client.Conn) acp.Client { return files{} }, &client.Options{Receiving: receiving, Sending: sending})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, c.Close())
		assert.NoError(t, c.Wait())
		assert.NoError(t, a.Wait())
	})
	_, err = c.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
	require.NoError(t, err)
	spans.Reset()
	return &ends{c, spans, provider.Tracer("test")}
}

// prompt runs a turn below a span of the test. It returns the spans in the order in which they
// ended, each as its chain of parents.
func (e *ends) prompt(t *testing.T, text string) (chains []string, spans tracetest.SpanStubs, err error) {
	t.Helper()
	ctx, root := e.tracer.Start(t.Context(), "test")
	req := &acp.PromptRequest{SessionID: "s1", Prompt: []acp.ContentBlock{acp.Text(text)}, Meta: acp.Meta{"example.com/x": true}}
	_, err = e.client.Prompt(ctx, req)
	assert.Equal(t, acp.Meta{"example.com/x": true}, req.Meta, "the params of the caller stay as they are")
	root.End()
	spans = e.spans.GetSpans()
	byID := map[trace.SpanID]tracetest.SpanStub{}
	for _, s := range spans {
		byID[s.SpanContext.SpanID()] = s
		assert.Equal(t, root.SpanContext().TraceID(), s.SpanContext.TraceID(), "one trace: %s", s.Name)
	}
	for _, s := range spans {
		chain := fmt.Sprintf("%s %s", s.SpanKind, s.Name)
		for s.Parent.IsValid() {
			s = byID[s.Parent.SpanID()]
			chain = fmt.Sprintf("%s %s > %s", s.SpanKind, s.Name, chain)
		}
		chains = append(chains, chain)
	}
	return chains, spans, err
}

func TestSpansOfBothEndsAreOneTrace(t *testing.T) {
	e := connect(t)
	chains, spans, err := e.prompt(t, "there")
	require.NoError(t, err)
	const turn = "internal test > client session/prompt"
	assert.Equal(t, []string{
		turn + " > server session/prompt > client fs/read_text_file > server fs/read_text_file",
		turn + " > server session/prompt > client fs/read_text_file",
		turn + " > server session/prompt",
		turn,
		"internal test",
	}, chains, "and none for session/update, a notification")
	for _, s := range spans[:4] {
		assert.Equal(t, codes.Unset, s.Status.Code, s.Name)
		assert.Subset(t, s.Attributes, []attribute.KeyValue{
			attribute.String("rpc.system.name", "jsonrpc"), attribute.String("rpc.method", s.Name), attribute.String("acp.session.id", "s1"),
		})
		assert.NotContains(t, fmt.Sprint(s), "confidential")
	}
}

func TestErrorsHaveTheirCodeAndNoText(t *testing.T) {
	e := connect(t)
	chains, spans, err := e.prompt(t, "secret-name")
	require.ErrorIs(t, err, rpcerr.ErrResourceNotFound)
	require.Len(t, chains, 5)
	for _, s := range spans[:4] {
		assert.Equal(t, codes.Error, s.Status.Code, s.Name)
		assert.Contains(t, s.Attributes, attribute.String("rpc.response.status_code", "-32002"))
		assert.Contains(t, s.Attributes, attribute.String("error.type", "-32002"))
		assert.NotContains(t, fmt.Sprint(s), "secret-name")
	}
}

// A request without a response has no code.
func TestEndedCall(t *testing.T) {
	e := connect(t)
	require.NoError(t, e.client.Close())
	_, err := e.client.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
	require.ErrorIs(t, err, acp.ErrClosed)
	for _, s := range e.spans.GetSpans() {
		assert.Equal(t, codes.Error, s.Status.Code, s.Name)
		for _, a := range s.Attributes {
			assert.NotEqual(t, "rpc.response.status_code", string(a.Key))
		}
	}
}

func TestPanic(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	tracer := acpotel.New(&acpotel.Options{TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))})
	handler := tracer.Receiving(func(context.Context, string, any) (any, error) { panic("confidential") })
	assert.Panics(t, func() { _, _ = handler(t.Context(), acp.MethodSessionList, nil) })
	require.Len(t, spans.GetSpans(), 1)
	assert.Empty(t, spans.GetSpans()[0].Events)
}

// The ids are in _meta under the names that the protocol reserves. Other members of any type do no
// harm.
func TestMeta(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	tracer := acpotel.New(&acpotel.Options{TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)), Propagator: propagation.TraceContext{}})
	var sent acp.Meta
	handler := tracer.Sending(func(_ context.Context, _ string, params any) (any, error) {
		if p, ok := params.(*acp.ListSessionsRequest); ok && p != nil {
			sent = p.Meta
		}
		return nil, nil
	})
	for _, params := range []any{&acp.ListSessionsRequest{Meta: acp.Meta{"traceparent": 7, "example.com/x": 1}}, (*acp.ListSessionsRequest)(nil), nil, []byte("{}")} {
		_, err := handler(t.Context(), acp.MethodSessionList, params)
		require.NoError(t, err)
		_, err = tracer.Receiving(func(context.Context, string, any) (any, error) { return nil, nil })(t.Context(), acp.MethodSessionList, params)
		require.NoError(t, err)
		if params != nil && sent != nil {
			parent, _ := sent["traceparent"].(string)
			assert.True(t, strings.HasPrefix(parent, "00-"), parent)
			assert.Equal(t, 1, sent["example.com/x"])
			sent = nil
		}
	}
	assert.Len(t, spans.GetSpans(), 8)
}
