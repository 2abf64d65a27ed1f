package wire

import "fmt"

// Side is the end of the connection that handles a method.
type Side uint8

const (
	Agent    Side             = 1 << iota // the agent handles it
	Client                                // the client handles it
	Proxy                                 // only a proxy handles it
	Protocol = Agent | Client             // the engine of both ends handles it
)

// Codec contains the functions that the engine needs for one params or result type. They are
// generated and allocate only the value itself.
type Codec struct {
	// Decode reads one well-formed JSON value. It returns a pointer to the type and the bytes of
	// memory that the value occupies. Its error is a *DecodeError.
	Decode func(raw []byte) (v any, held int64, err error)
	// Append appends v, a pointer to the type, to b. If v cannot be sent (a nil union, a nil
	// pointer, bad raw JSON), it returns b unchanged and an error.
	Append func(b []byte, v any) ([]byte, error)
	// Valid reports whether v obeys the rules of the schema and, if strict, those of the protocol's
	// prose. Package validate explains why not.
	Valid func(v any, strict bool) bool
	// Is reports whether v is a non-nil pointer to the type.
	Is func(v any) bool
}

// Payload returns v if it is a non-nil pointer to a T. Otherwise it returns nil, and e fails.
func Payload[T any](e *Encoder, v any) *T {
	x, ok := v.(*T)
	if !ok || x == nil {
		e.Fail(fmt.Sprintf("expected a non-nil *%T, got %T", *new(T), v))
		return nil
	}
	return x
}

// Is is [Codec.Is] of a type.
func Is[T any](v any) bool {
	x, ok := v.(*T)
	return ok && x != nil
}

// Valid returns [Codec.Valid] for the check of a type.
func Valid[T any](check func(*T, bool) bool) func(v any, strict bool) bool {
	return func(v any, strict bool) bool {
		x, ok := v.(*T)
		return ok && x != nil && check(x, strict)
	}
}

// AlwaysValid is [Codec.Valid] of a type without rules.
func AlwaysValid(any, bool) bool { return true }

// Method is one row of the protocol's method table.
type Method struct {
	Name         string
	Side         Side
	Notification bool
	Unstable     bool

	Params *Codec // nil for a method that neither an agent nor a client handles
	Result *Codec // nil for such a method and for a notification

	// Capability is the path of the capability that the handling end advertises for the method,
	// such as "sessionCapabilities.list". It is empty if the method needs none.
	Capability string

	// StrictParams means that the rules of the prose apply to received params too.
	StrictParams bool
	// Waits means that the handler may wait for people or processes without limit, so it does not
	// count as a running handler.
	Waits bool
	// Streams means that updates arrive while the call waits for its response, so the call does not
	// lift the back-pressure on notifications.
	Streams bool
}

var tables = map[int]map[string]*Method{}

// Register records the methods of one wire version. Vocabulary packages call it when they are
// initialized.
func Register(version int, methods []*Method) {
	table := make(map[string]*Method, len(methods))
	for _, m := range methods {
		key := m.Name
		if m.Notification {
			key = NotificationKey(m.Name)
		}
		if table[key] != nil {
			panic(fmt.Sprintf("wire: method %s is registered twice", key))
		}
		table[key] = m
	}
	tables[version] = table
}

// NotificationKey returns the table key of a notification. The key of a request is its name.
// mcp/message exists as both.
func NotificationKey(name string) string { return name + "!" }

// Request returns the row of a request method, or nil.
func Request(version int, name string) *Method { return tables[version][name] }

// Notification returns the row of a notification method, or nil.
func Notification(version int, name string) *Method {
	return tables[version][NotificationKey(name)]
}

// Defines reports whether a version has the method, as a request or a notification, at either end.
func Defines(version int, name string) bool {
	return Request(version, name) != nil || Notification(version, name) != nil
}

// Methods returns all rows of a version, in no particular order.
func Methods(version int) []*Method {
	var all []*Method
	for _, m := range tables[version] {
		all = append(all, m)
	}
	return all
}
