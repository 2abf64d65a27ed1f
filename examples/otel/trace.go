// Package acpotel traces the requests of a connection with OpenTelemetry. It is an example
// of a middleware: copy it and change it.
//
//	trace := acpotel.New(nil)
//	conn, err := client.Connect(ctx, process, newClient, &client.Options{
//		Receiving: []acp.Middleware{trace.Receiving},
//		Sending:   []acp.Middleware{trace.Sending},
//	})
//
// Agents use it in agent.Options in the same way. Each request has a span at the end that
// sends it and one at the end that handles it. The ids of the trace travel in the _meta
// member of the params, under the keys that the protocol reserves for them, so the spans
// of both ends belong to one trace: what an agent asks of its client during a turn is below
// the span of session/prompt.
//
// A span has the method, the id of the session and the code of the error. It does not contain
// params, results or texts of errors, because these may be confidential.
package acpotel

import (
	"context"
	"reflect"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Options is for [New]. The zero value is the default.
type Options struct {
	// TracerProvider makes the spans; nil means otel.GetTracerProvider().
	TracerProvider trace.TracerProvider
	// Propagator writes and reads the ids of a trace; nil means W3C trace context, which is
	// what the protocol reserves names for.
	Propagator propagation.TextMapPropagator
}

// Tracer makes a span for each request. Its methods are safe for concurrent use, and one
// Tracer may serve any number of connections.
type Tracer struct {
	tracer     trace.Tracer
	propagator propagation.TextMapPropagator
}

// New returns a Tracer.
func New(opts *Options) *Tracer {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.Propagator == nil {
		o.Propagator = propagation.TraceContext{}
	}
	return &Tracer{o.TracerProvider.Tracer("github.com/acpkit/go-sdk/examples/otel"), o.Propagator}
}

// Receiving is an [acp.Middleware] for Options.Receiving of an agent or a client.
func (t *Tracer) Receiving(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		if isNotification(params) {
			return next(ctx, method, params)
		}
		if !trace.SpanContextFromContext(ctx).IsValid() { // in a proxy, ctx already has a span
			ctx = t.propagator.Extract(ctx, metaOf(params))
		}
		return t.traced(ctx, trace.SpanKindServer, method, params, next)
	}
}

// Sending is an [acp.Middleware] for Options.Sending of an agent or a client.
func (t *Tracer) Sending(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		if isNotification(params) {
			return next(ctx, method, params)
		}
		return t.traced(ctx, trace.SpanKindClient, method, params, func(ctx context.Context, method string, params any) (any, error) {
			ids := carrier{}
			t.propagator.Inject(ctx, ids)
			return next(ctx, method, withMeta(params, ids))
		})
	}
}

// traced calls next within a span.
func (t *Tracer) traced(ctx context.Context, kind trace.SpanKind, method string, params any, next acp.Handler) (any, error) {
	attributes := []attribute.KeyValue{
		attribute.String("rpc.system.name", "jsonrpc"), attribute.String("rpc.method", method), attribute.String("jsonrpc.protocol.version", "2.0"),
	}
	if id := sessionOf(params); id != "" {
		attributes = append(attributes, attribute.String("acp.session.id", id))
	}
	ctx, span := t.tracer.Start(ctx, method, trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
	defer func() { span.End() }() // if End were deferred itself, it would record the text of a panic
	result, err := next(ctx, method, params)
	if err != nil {
		kind := reflect.TypeOf(err).String()
		if code, ok := rpcerr.CodeOf(err); ok {
			kind = strconv.Itoa(int(code))
			span.SetAttributes(attribute.String("rpc.response.status_code", kind))
		}
		span.SetAttributes(attribute.String("error.type", kind))
		span.SetStatus(codes.Error, "")
	}
	return result, err
}

// isNotification reports whether params are those of a notification of the protocol. Params of an
// extension do not show that, so notifications of extensions have spans too.
func isNotification(params any) bool {
	t := reflect.TypeOf(params)
	return t != nil && t.Kind() == reflect.Pointer && strings.HasSuffix(t.Elem().Name(), "Notification")
}
