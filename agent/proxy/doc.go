// Package proxy passes messages between a client and an agent. It does not depend on a
// version of the protocol or on its methods, and does not decode the messages, so members
// and methods that the schema does not define are not lost.
//
//	process, err := stream.Command(exec.Command("gemini", "--acp"), nil)
//	if err != nil {
//		return err
//	}
//	return proxy.New(stream.Stdio(), process, nil).Run(ctx)
//
// # What is passed on
//
// A message is passed on unchanged, byte for byte, including its id. A cancel is passed on
// after the request that it cancels. A message that is not JSON-RPC is passed on too; the
// end that reads it must reject it.
//
// All messages in one direction keep their order: requests, notifications and responses.
// The proxy has no queue: an end that does not read slows down the end that writes to it.
//
// # Middleware
//
// A [Middleware] sees the requests and notifications of one end, with their raw params, and
// the responses to them. It may change a message, respond by itself, or fail. A message that
// it does not change is passed on byte for byte. To keep the order, messages that were read
// after a message wait until the middleware has passed it on, and messages that were read
// after a response wait until the middleware has returned it. A middleware must call
// [Release] before it waits for anything else; the calls of a [Peer] do so themselves.
//
// # How it ends
//
// When the client closes its end, the agent may still respond to the client's requests in
// flight within Options.DrainGrace. When the agent closes its end, requests in flight to it
// fail. Then both streams are closed.
//
// Use packages agent and client instead for a proxy that needs typed messages, or limits of
// its own at each end. Use stream.Forward for a proxy that needs no middleware.
package proxy
