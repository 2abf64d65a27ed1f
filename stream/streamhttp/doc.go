// Package streamhttp carries the messages of the Agent Client Protocol over streamable
// HTTP: a client sends each message with a POST, and receives messages as server-sent
// events of one GET for the connection and one GET for each session. [Dial] is the client's end,
// [Handler] the server's.
//
// Most programs use package remote, which offers this and WebSocket at one address and
// checks who connects. A Handler alone checks the Origin header and nothing else.
//
// # Order
//
// The messages of one session arrive in order, and so do those of the connection. There
// is no order between sessions, or between a session and the connection, except for
// this:
//
//   - Messages of a client arrive in order: each POST starts after the one before it was
//     accepted. A response waits for the notifications that were written before it, and so
//     for the requests before those, but for no other request: its POST may wait for room.
//     So a request that a handler sends may arrive after the response of the handler.
//   - The server sends the response to session/load on the stream of the session, after
//     the replay. Other servers send it on the stream of the connection. The client then
//     sends a request of its own and holds the response back until the response to that
//     request arrives, or the server ends the stream of the session. It does so for every
//     response of a session that arrives on the stream of the connection. If the stream is
//     cut, or nothing arrives on it for 30 to 60 s, the call fails with a *stream.LostError,
//     because updates may be missing. A server that refuses the request, has no stream for
//     the session, or answers on the stream of the connection again, gives no order.
//   - The server sends $/cancel_request and elicitation/complete on the stream of the
//     request that they concern. From other servers they may overtake it: if the request
//     has not arrived, the client holds a $/cancel_request until it does, up to 1024 of them.
//
// No order rests on time. If a server answers the POST of a request only after a response that was
// written later, with a notification between them, the POST fails after 64 s, and they follow.
//
// The client opens the event stream of a session before it sends a message of it, when a
// response names the session, and when the update subagent_update announces it. It closes the
// event stream when the session was closed or deleted, or could not be opened. What the agent
// sends for such a session later arrives on the stream of the connection. If a client has as many
// event streams as it may, the server ends that of a closed session to make room.
//
// The response to session/new may arrive after the first updates of that session. A
// client of this module keeps the updates of sessions that it does not know yet.
//
// # Loss
//
// A POST whose connection is lost before the response is never repeated, because it may
// have been processed. If it was a request, the call fails with an error that wraps
// [ErrUncertain]; if it was a notification or a response, the connection ends. If the event
// stream of a session is interrupted, the calls of that session fail with a
// *stream.LostError, and the next message opens it again. The client first sends a request of
// its own whose response shows that the connection goes on: at the end of a connection the
// event streams of its sessions may end first, and their calls then fail with the connection.
// If the event stream of the connection is interrupted, the connection ends. If the server ends
// it, so does the connection: without an error if the other event streams end within 5 s.
//
// A POST that gets status 429 or 503 with a Retry-After header was not accepted, and one for
// which no network connection could be made was not sent. The call of such a request fails
// with an error that wraps [ErrNotAccepted], so that its caller may repeat it. A notification
// or a response is posted again, in its place in the order, after the time that the server
// names and with growing pauses. If the server has not accepted it after 30 s, or names a
// longer time, the connection ends with that error. A GET is repeated in the same way, and for
// 5 s if it was cut, or if the server has not noticed yet that the one before it was cut.
//
// A server or a network that goes silent is noticed. The headers of an event stream may take
// 30 s. A POST of which nothing leaves and that gets no answer for 64 s counts as interrupted,
// and the requests that wait behind it fail with ErrNotAccepted. An event stream on which
// nothing arrives for 60 s counts as interrupted too.
//
// A server with HandlerOptions.Resume numbers its events and keeps the last ones of each
// stream, 4096 events or 8 MiB. The client then continues an interrupted event stream: no
// call fails, and turns go on. It tries to for 60 s after the last byte that arrived, and for
// 25 s at least.
//
// The event streams of a server that shuts down end with a comment, ": the server shuts down".
// Reading then returns stream.ErrShutdown, and the client does not try to continue them.
//
// # Limits of the server
//
//	one message             32 MiB    MaxMessage
//	waiting, each way       64 MiB    writers wait, a POST for 60 s
//	bodies being read       64 MiB    or MaxMessage; further ones get status 429
//	POSTs being read        2048      a connection; further ones get status 429
//	POSTs waiting for room  1024      a connection; further ones get status 429
//	no progress when full   60 s      the connection ends
//	no progress             5 min     60 s with Resume; the event stream ends
//	event streams           1024      a connection; the next one is refused
//	sessions without stream 1024      a connection; the next one ends it
//	ids in headers          1024 bytes
//	without event streams   5 min     60 s with Resume
//
// A body is counted from the time it is read until its message has room in the queue. Each
// connection has a budget for the bodies of its requests and notifications, and each owner
// has one for requests that name no connection. Responses to requests of the agent have a
// budget of their own, so they are not refused because of requests. Bodies of at most 4 KiB,
// as those of cancels, are not counted. Responses to requests of the agent do not wait for
// room, and are accepted while too many other POSTs are read. A client of this package does
// not exceed the limits, because it posts one request or notification at a time, and at most
// 1024 responses with at most 64 MiB in all.
package streamhttp
