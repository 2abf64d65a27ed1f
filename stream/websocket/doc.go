// Package websocket carries the messages of the Agent Client Protocol over WebSocket,
// one message a text frame. [Dial] is the client's end, [Accept] the server's. Both
// return a [Conn], which is a stream.Stream.
//
// Most programs use package remote, which offers WebSocket and streamable HTTP at one
// address and checks who connects. Accept alone checks the Origin header and nothing
// else.
//
// # Order and loss
//
// A connection keeps one total order in each direction, as standard input and output do. A
// message that is longer than MaxMessage is skipped, and reading continues. A connection
// that is lost cannot be resumed: dial again, initialize, and load or resume the session.
//
// Each end sends a ping every 15 s and gives up after 45 s without a byte from the peer. The
// stream reads ahead, up to one message or 1 MiB, so that it answers pings while Read is not
// called. When it has read that much, the stream stops reading, does not count the 45 s, and
// still sends pings, so that the peer does not give up either.
//
// # How a connection ends
//
// Close codes 1000 and 1001 of the peer, and a close without a code, are the clean end:
// reading returns a *[CloseError] for which errors.Is(err, io.EOF) holds. Every other
// code is an error, and so is the loss of the network connection without a close.
//
//	1000  the connection has done its work
//	1001  the server shuts down; errors.Is(err, stream.ErrShutdown) holds
//	1002  the first message is not initialize, or the peer broke the rules for frames
//	1007  the peer sent a text message that is not UTF-8
//	1008  the peer exceeded a limit, reads nothing, or may not go on
//	1011  this end failed, or ended before it responded to initialize
package websocket
