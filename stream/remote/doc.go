// Package remote serves and reaches agents over the network. A server offers WebSocket
// and streamable HTTP at one address:
//
//	serve := func(ctx context.Context, s stream.Stream) error { return agent.Serve(ctx, s, newAgent, nil) }
//	handler := remote.NewHandler(serve, &remote.Options{
//		Authorize:    remote.BearerToken(os.Getenv("TOKEN")),
//		AllowedHosts: []string{"https://agent.example.com"},
//	})
//	err := remote.NewServer(":8080", handler).ListenAndServe()
//
// A client dials it by URL, with the scheme ws, wss, http or https:
//
//	s, err := remote.Dial(ctx, "https://agent.example.com/acp", &remote.DialOptions{
//		Header: func(context.Context) (http.Header, error) {
//			return http.Header{"Authorization": {"Bearer " + os.Getenv("TOKEN")}}, nil
//		},
//	})
//	if err != nil {
//		return err
//	}
//	conn, err := client.Connect(ctx, s, newClient, nil)
//
// # Who may connect
//
// An agent runs commands, so a server checks every request before it reads anything
// else of it:
//
//   - Authorize identifies its sender or refuses it. It runs on every request and on the
//     upgrade to WebSocket. Without Authorize only requests that arrive at a loopback
//     address are served.
//   - The Host header must name a loopback host or one of AllowedHosts, so that a web
//     page cannot reach the server by a host name that it controls.
//   - The Origin header, which browsers send, must be absent, be that of the server itself, or
//     be one of AllowedOrigins.
//
// A connection belongs to the principal that opened it; for others it does not exist.
// A principal that is revoked loses its connections. Do not put tokens into URLs,
// which end up in logs.
//
// A handler cannot limit the size of headers, the time in which they arrive, or how many network
// connections are open without a request that it has authorized. [NewServer] returns an
// http.Server that does.
package remote
