package streamhttp

// Stats are the counters of a handler, and those of a server of both transports; see remote.ServerStats.
// Connections and Sessions are current values; all others count from the creation of the handler.
type Stats struct {
	// Connections is the number of open connections. Sessions is the number of sessions with an
	// open event stream over streamable HTTP. Sessions of WebSockets are not included, because only
	// the agent knows them.
	Connections, Sessions int64

	// ConnectionsTotal is the number of connections so far, including the open ones.
	ConnectionsTotal int64

	// BytesReceived and BytesSent are the bytes of bodies and events of streamable HTTP, and
	// all bytes of WebSockets.
	BytesReceived, BytesSent int64

	// Refused is the number of requests that were refused because of their sender, because of a
	// limit, or because the server is misconfigured. Some of the reasons are logged.
	Refused int64
}

// Stats returns the counters of the handler. It is safe for concurrent use.
func (h *Handler) Stats() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Stats{
		Connections: int64(len(h.conns)), ConnectionsTotal: h.total, Sessions: h.sessions.Load(),
		BytesReceived: h.received.Load(), BytesSent: h.sent.Load(), Refused: h.refusals.Count(),
	}
}
