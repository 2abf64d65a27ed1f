package wire

import "fmt"

// Side says which end of the connection handles a method.
type Side uint8

const (
	Agent    Side             = 1 << iota // the agent handles it
	Client                                // the client handles it
	Proxy                                 // only a link of a proxy chain handles it: typed, never dispatched
	Protocol = Agent | Client             // both ends handle it
)

// Codec is what the engine needs to know of one params or result type. The
// functions are generated and allocate nothing but the value itself.
type Codec struct {
	// Decode reads one JSON value that is already known to be well formed. It
	// returns a pointer to the type and the bytes of memory that the value occupies.
	// Its error is a *DecodeError.
	Decode func(raw []byte) (v any, held int64, err error)
	// Append appends v, a pointer to the type, to b. An error means that v
	// cannot be sent (a nil union, a nil pointer, bad raw JSON); b is then
	// returned unchanged.
	Append func(b []byte, v any) ([]byte, error)
	// Valid reports whether v keeps the rules of the schema and, when strict,
	// those of the protocol's prose too. It only decides; package validate
	// explains.
	Valid func(v any, strict bool) bool
	// Is reports whether v is a non-nil pointer to the type.
	Is func(v any) bool
}

// Method is one row of the protocol's method table.
type Method struct {
	Name         string
	Side         Side
	Notification bool
	Unstable     bool

	Params *Codec
	Result *Codec // nil for a notification

	// Capability is the path of the bit that the handling end advertises for the
	// method, such as "sessionCapabilities.list"; empty when it needs none.
	Capability string

	// StrictParams: the rules of the prose hold for arriving params as well.
	StrictParams bool
	// Waits: the handler may wait for people or processes without end, so it
	// does not count against the limit of running handlers.
	Waits bool
	// Streams: updates flow while the call waits for its response, so a waiting
	// call does not lift the back-pressure on notifications.
	Streams bool
}

var tables = map[int]map[string]*Method{}

// Register records the methods of one wire version. Vocabulary packages call it
// while they are initialised.
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

// NotificationKey is the table key of a notification. Requests stand under
// their plain name; mcp/message exists in both forms.
func NotificationKey(name string) string { return name + "!" }

// Request returns the row of a request method, or nil.
func Request(version int, name string) *Method { return tables[version][name] }

// Notification returns the row of a notification method, or nil.
func Notification(version int, name string) *Method {
	return tables[version][NotificationKey(name)]
}

// Defines reports whether a version has the method, as a request or a notification, for
// whichever end.
func Defines(version int, name string) bool {
	return Request(version, name) != nil || Notification(version, name) != nil
}

// Methods returns all rows of a version in no particular order.
func Methods(version int) []*Method {
	var all []*Method
	for _, m := range tables[version] {
		all = append(all, m)
	}
	return all
}
